// Values that a thread reads before it has written them.

// No element is set before it is counted up.
template <bool FIXED>
__global__ void local_array(const int* in, int* out, int n) {
    int counts[8];
    if (FIXED)
        for (int k = 0; k < 8; ++k) counts[k] = 0;
    for (int k = 0; k < n; ++k) counts[in[k] & 7]++;
    out[threadIdx.x] = counts[threadIdx.x & 7];
}

// One element too few is set.
template <bool FIXED>
__global__ void one_too_few(const int* in, int* out, int n) {
    int own[5];
    for (int k = 0; k < (FIXED ? n : n - 1); ++k) own[k] = in[k];
    int sum = 0;
    for (int k = 0; k < n; ++k) sum += own[in[k] % n];
    out[threadIdx.x] = sum;
}

// The compiler reads `best` before it is set, and uses it only where it is.
__global__ void largest(const int* in, int* out, int n) {
    int best, at;
    bool found = false;
    for (int k = 0; k < n; ++k)
        if (in[k] > 5 && (!found || in[k] > best)) {
            best = in[k];
            at = k;
            found = true;
        }
    if (found) out[threadIdx.x] = best + at;
}

// A branch by an element that nothing has set.
template <bool FIXED>
__global__ void branches(const int* in, int* out, int n) {
    int seen[8];
    for (int k = 0; k < n; ++k) seen[in[k] & 7] = 1;
    if (FIXED)
        for (int k = n; k < 8; ++k) seen[k] = 0;
    if (seen[(threadIdx.x + n) & 7] == 1) out[threadIdx.x] = 1;
}

// A struct with a member that nobody reads.
struct Particle { float x, y, z, spare; };
__global__ void structs(const float* in, float* out, int n) {
    Particle all[4];
    for (int k = 0; k < 4; ++k) all[k].x = all[k].y = all[k].z = in[k];
    Particle one = all[n & 3], copy[2];
    copy[n & 1] = one;
    out[threadIdx.x] = copy[n & 1].x + copy[n & 1].z;
}

__device__ __noinline__ float mean(const float* values, int n) {
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += values[k];
    return sum / n;
}
template <bool FIXED>
__global__ void by_pointer(const float* in, float* out, int n) {
    float own[16];
    for (int k = FIXED ? 0 : 1; k < n; ++k) own[k] = in[k];
    out[threadIdx.x] = mean(own, n);
}

// atomicExch() only writes where nobody uses the old value.
template <bool USED>
__global__ void exchanges(int* out) {
    __shared__ int flag;
    if (threadIdx.x == 0) {
        const int before = atomicExch(&flag, 7);
        if (USED) out[threadIdx.x] = before;
    }
    __syncthreads();
    if (threadIdx.x > 0) out[threadIdx.x] = flag;
}

// Compilers load both words of shared memory, and choose afterwards.
__global__ void chosen(const int* in, int* out, int n) {
    __shared__ int found, where;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    if (in[threadIdx.x] == n) {
        found = 1;
        where = threadIdx.x;
    }
    __syncthreads();
    out[threadIdx.x] = found ? where : -1;
}
