// Findings that one barrier repairs, and advice.

// One thread writes the block's base, all threads read it.
template <bool right>
__global__ void one_writer(const int* flag, int* slot, int* cursor) {
    __shared__ int sums[32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const int mine = flag[blockIdx.x * blockDim.x + threadIdx.x];
    int s = mine;
    for (int d = 1; d < 32; d <<= 1) {
        const int t = __shfl_up_sync(0xffffffffu, s, d);
        if (lane >= d) s += t;
    }
    if (lane == 31) sums[warp] = s;
    __syncthreads();
    if (threadIdx.x == 0) {
        int total = 0;
        for (int w = 0; w < blockDim.x / 32; ++w) {
            const int t = sums[w];
            sums[w] = total;
            total += t;
        }
        sums[31] = atomicAdd(cursor, total);
    }
    if (right) __syncthreads();
    const int at = sums[31] + sums[warp] + s - mine;
    slot[blockIdx.x * blockDim.x + threadIdx.x] = at;
}

// A tile is loaded, used and loaded again; the second barrier of the loop is missing.
template <bool right>
__global__ void tile_war(const float* in, float* out, int n) {
    __shared__ float tile[256];
    float sum = 0;
    for (int base = 0; base < n; base += 128) {
        tile[threadIdx.x] = in[base + threadIdx.x];
        tile[128 + threadIdx.x] = 2 * in[base + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 128; ++k) sum += tile[k] + tile[128 + k];
        if (right) __syncthreads();
    }
    out[blockIdx.x * 128 + threadIdx.x] = sum;
}

// Two barriers are missing.
__global__ void two_missing(const int* in, int* out) {
    __shared__ int s[64], r[64];
    const int t = int(threadIdx.x);
    s[t] = in[t];
    r[t] = s[63 - t];
    const int x = r[63 - t];
    out[t] = x;
}

// Two extern arrays are one memory.
template <bool right>
__global__ void two_extern(const float* in, float* out) {
    extern __shared__ float first[];
    extern __shared__ float second_[];
    float* second = right ? first + blockDim.x : second_;
    first[threadIdx.x] = in[threadIdx.x];
    second[blockDim.x - 1 - threadIdx.x] = 10 * in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = first[threadIdx.x] + second[threadIdx.x];
}
