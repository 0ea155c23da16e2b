// The dot product of dot.cu on a ladder of kernels: each changes one thing of the kernel before it.
// dot_shuffle adds in registers, dot_vectorized loads 16 bytes at a time and runs in as many blocks
// as keep the GPU busy. These two write one sum per block, which the host adds; dot_single_pass
// writes the total. Blocks of 1 to 1024 threads; of whole warps from dot_vectorized on.

constexpr unsigned max_threads = 1024;
constexpr int warp_size = 32;

// The sum of the products that this thread computes, of elements that are one grid apart.
__device__ float products(const float* a, const float* b, unsigned n) {
    float sum = 0;
    for (unsigned i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x)
        sum += a[i] * b[i];
    return sum;
}

// Returns in lane 0 the sum of the values of the first `lanes` lanes. Only those lanes call it.
__device__ float sum_lanes(float value, int lane, int lanes) {
    const unsigned mask = 0xffffffffu >> (warp_size - lanes);
    for (int offset = warp_size / 2; offset > 0; offset /= 2) {
        const float other = __shfl_down_sync(mask, value, offset);
        if (lane + offset < lanes) value += other;
    }
    return value;
}

// Returns in thread 0 the sum of the values of the whole block. `warp_sums` is shared memory with
// max_threads / warp_size elements.
__device__ float sum_block(float value, float* warp_sums) {
    const int t = threadIdx.x;
    const int warp = t / warp_size, lane = t % warp_size;
    const int warps = (blockDim.x + warp_size - 1) / warp_size;
    const int lanes = min(warp_size, int(blockDim.x) - warp * warp_size);
    const float sum = sum_lanes(value, lane, lanes);
    if (lane == 0) warp_sums[warp] = sum;
    // Removes a read-after-write hazard: the first warp reads the sum of every warp.
    __syncthreads();
    return t < warps ? sum_lanes(warp_sums[t], t, warps) : 0.0f;
}

// Changed: lanes pass their sums on in registers, so that one barrier is enough.
extern "C" __global__ void dot_shuffle(const float* a, const float* b, float* partial, unsigned n) {
    __shared__ float warp_sums[max_threads / warp_size];
    const float sum = sum_block(products(a, b, n), warp_sums);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

// Returns in lane 0 the sum of the values of a whole warp.
__device__ float sum_warp(float value) {
    for (unsigned offset = warp_size / 2; offset > 0; offset /= 2)
        value += __shfl_down_sync(0xffffffffu, value, offset);
    return value;
}

// sum_block() for a block of whole warps: no lanes have to be left out.
__device__ float sum_whole_warps(float value, float* warp_sums) {
    const unsigned t = threadIdx.x;
    value = sum_warp(value);
    if (t % warp_size == 0) warp_sums[t / warp_size] = value;
    // Removes a read-after-write hazard: the first warp reads the sum of every warp.
    __syncthreads();
    if (t >= warp_size) return 0.0f;
    return sum_warp(t < blockDim.x / warp_size ? warp_sums[t] : 0.0f);
}

constexpr unsigned loads = 4;  // 16-byte loads of each vector that a thread starts before it waits

__device__ float product(float4 x, float4 y) {
    return fmaf(x.x, y.x, x.y * y.y) + fmaf(x.z, y.z, x.w * y.w);
}

// products() of vectors that are aligned to 16 bytes, with four elements per load. A block takes
// every gridDim.x-th tile of loads * blockDim.x float4. The loads are streaming because nothing is
// read twice.
__device__ float many_products(const float* a, const float* b, unsigned n) {
    const float4* as = reinterpret_cast<const float4*>(a);
    const float4* bs = reinterpret_cast<const float4*>(b);
    const unsigned count = n / 4;
    const unsigned step = blockDim.x;
    float sums[loads] = {};
    unsigned i = blockIdx.x * loads * step + threadIdx.x;
    for (; i + (loads - 1) * step < count; i += gridDim.x * loads * step) {
        float4 x[loads], y[loads];
#pragma unroll
        for (unsigned k = 0; k < loads; ++k) {
            x[k] = __ldcs(as + i + k * step);
            y[k] = __ldcs(bs + i + k * step);
        }
#pragma unroll
        for (unsigned k = 0; k < loads; ++k) sums[k] += product(x[k], y[k]);
    }
    // The rest: first the float4 that do not fill a tile, then the last 0 to 3 floats.
    for (; i < count; i += step) sums[0] += product(__ldcs(as + i), __ldcs(bs + i));
    for (i = 4 * count + blockIdx.x * step + threadIdx.x; i < n; i += gridDim.x * step)
        sums[1] += a[i] * b[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// Changed: 16 bytes per load, several loads in flight, and as many blocks as keep the GPU busy.
extern "C" __global__ void dot_vectorized(const float* a, const float* b, float* partial,
                                          unsigned n) {
    __shared__ float warp_sums[max_threads / warp_size];
    const float sum = sum_whole_warps(many_products(a, b, n), warp_sums);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

// Returns whether this block is the last block of the grid that calls it; one thread of each block
// calls it. The last block can read what the calling threads stored before: the atomic operation
// releases and acquires, which takes less time than a __threadfence() before and after it. *ticket
// must be 0 before the launch and is 0 after it.
__device__ bool comes_last(unsigned* ticket) {
    const unsigned last = gridDim.x - 1;
    unsigned before;
    asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(__cvta_generic_to_global(ticket)), "r"(last)
                 : "memory");
    return before == last;
}

// Returns this thread's share of the sums of all blocks. The loads bypass the L1 cache, which does
// not see stores of other multiprocessors. 8 loads are in flight at a time, so that a thread seldom
// waits more than once.
__device__ float stored_sums(const float* block_sums) {
    constexpr unsigned batch = 8;
    float sum = 0.0f;
    for (unsigned first = threadIdx.x; first < gridDim.x; first += batch * blockDim.x) {
        float v[batch];
#pragma unroll
        for (unsigned k = 0; k < batch; ++k) {
            const unsigned i = first + k * blockDim.x;
            v[k] = i < gridDim.x ? __ldcg(block_sums + i) : 0.0f;
        }
#pragma unroll
        for (unsigned k = 0; k < batch; ++k) sum += v[k];
    }
    return sum;
}

// Changed: one launch writes the total. The block that ends last adds the sums of all blocks,
// in the order of the blocks.
extern "C" __global__ void dot_single_pass(const float* a, const float* b, float* partial,
                                           unsigned n, float* output, unsigned* ticket) {
    __shared__ float warp_sums[max_threads / warp_size], last_sums[max_threads / warp_size];
    __shared__ bool last;
    const unsigned t = threadIdx.x;
    const float sum = sum_whole_warps(many_products(a, b, n), warp_sums);
    if (t == 0) {
        partial[blockIdx.x] = sum;
        last = comes_last(ticket);
    }
    // Removes a read-after-write hazard: every thread reads `last`, which thread 0 has just
    // written.
    __syncthreads();
    if (!last) return;
    const float total = sum_whole_warps(stored_sums(partial), last_sums);
    if (t == 0) *output = total;
}
