// The sums of reduce.cu on a ladder of kernels, after Harris, "Optimizing Parallel Reduction in
// CUDA": each changes one thing of the kernel before it. The last one writes the total as fast as
// memory can be read; the others write one sum per block, which the host adds. Blocks of 1 to 1024
// threads, of whole warps from reduce_vectorized on; any n: a thread without an element adds 0.

constexpr unsigned max_threads = 1024;
constexpr unsigned warp_size = 32;

__device__ float element(const float* input, unsigned i, unsigned n) {
    return i < n ? input[i] : 0.0f;
}

// A block takes two elements per thread: the sum of this thread's two.
__device__ float two_elements(const float* input, unsigned n) {
    const unsigned i = blockIdx.x * 2 * blockDim.x + threadIdx.x;
    return element(input, i, n) + element(input, i + blockDim.x, n);
}

// Adds up data[0] to data[blockDim.x - 1]; the sum is then in data[0]. The first `live` elements
// are not yet added up. Each step adds their upper half to their lower half. If `live` is odd, the
// middle element has no partner and is added in a later step.
__device__ void sum_sequential(float* data) {
    const unsigned t = threadIdx.x;
    for (unsigned live = blockDim.x; live > 1;) {
        const unsigned half = (live + 1) / 2;
        if (t + half < live) data[t] += data[t + half];
        // Removes a read-after-write hazard: the next step reads sums that other threads write in
        // this step.
        __syncthreads();
        live = half;
    }
}

extern __shared__ float sdata[];  // one float for each thread, allocated at launch

// Changed from reduce0: the threads that add are the first ones, without gaps, so that whole warps
// have nothing more to do.
extern "C" __global__ void reduce_sequential(const float* input, float* output, unsigned n) {
    const unsigned t = threadIdx.x;
    sdata[t] = element(input, blockIdx.x * blockDim.x + t, n);
    // Removes a read-after-write hazard: the first step reads elements that other threads have just
    // written.
    __syncthreads();
    sum_sequential(sdata);
    if (t == 0) output[blockIdx.x] = sdata[0];
}

// Changed: each thread adds two elements while it loads them, so that half the blocks are enough.
extern "C" __global__ void reduce_first_add(const float* input, float* output, unsigned n) {
    const unsigned t = threadIdx.x;
    sdata[t] = two_elements(input, n);
    // Removes a read-after-write hazard: the first step reads sums that other threads have just
    // written.
    __syncthreads();
    sum_sequential(sdata);
    if (t == 0) output[blockIdx.x] = sdata[0];
}

// Returns in lane 0 the sum of the values of the first `lanes` lanes. Only those lanes call it.
__device__ float sum_lanes(float value, unsigned lane, unsigned lanes) {
    const unsigned mask = 0xffffffffu >> (warp_size - lanes);
    for (unsigned offset = warp_size / 2; offset > 0; offset /= 2) {
        const float other = __shfl_down_sync(mask, value, offset);
        if (lane + offset < lanes) value += other;
    }
    return value;
}

// Returns in thread 0 the sum of the values of the whole block. `warp_sums` is shared memory with
// max_threads / warp_size elements.
__device__ float sum_block(float value, float* warp_sums) {
    const unsigned t = threadIdx.x;
    const unsigned warp = t / warp_size;
    const unsigned lane = t % warp_size;
    const unsigned warps = (blockDim.x + warp_size - 1) / warp_size;
    const unsigned lanes = min(warp_size, blockDim.x - warp * warp_size);
    const float sum = sum_lanes(value, lane, lanes);
    if (lane == 0) warp_sums[warp] = sum;
    // Removes a read-after-write hazard: the first warp reads the sum of every warp.
    __syncthreads();
    return t < warps ? sum_lanes(warp_sums[t], t, warps) : 0.0f;
}

// Changed: lanes pass their sums on in registers, so that one barrier is enough.
extern "C" __global__ void reduce_shuffle(const float* input, float* output, unsigned n) {
    __shared__ float warp_sums[max_threads / warp_size];
    const float sum = sum_block(two_elements(input, n), warp_sums);
    if (threadIdx.x == 0) output[blockIdx.x] = sum;
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

constexpr unsigned loads = 4;  // 16-byte loads that each thread starts before it waits

__device__ float sum_of(float4 v) {
    return (v.x + v.y) + (v.z + v.w);
}

// Returns the sum of this thread's share of `input`, which is aligned to 16 bytes. A block takes
// every gridDim.x-th tile of loads * blockDim.x float4. The loads are streaming because nothing is
// read twice.
__device__ float many_elements(const float* input, unsigned n) {
    const float4* vectors = reinterpret_cast<const float4*>(input);
    const unsigned count = n / 4;
    const unsigned step = blockDim.x;
    float sums[loads] = {};
    unsigned i = blockIdx.x * loads * step + threadIdx.x;
    for (; i + (loads - 1) * step < count; i += gridDim.x * loads * step) {
        float4 v[loads];
#pragma unroll
        for (unsigned k = 0; k < loads; ++k) v[k] = __ldcs(vectors + i + k * step);
#pragma unroll
        for (unsigned k = 0; k < loads; ++k) sums[k] += sum_of(v[k]);
    }
    // The rest: first the float4 that do not fill a tile, then the last 0 to 3 floats.
    for (; i < count; i += step) sums[0] += sum_of(__ldcs(vectors + i));
    for (i = 4 * count + blockIdx.x * step + threadIdx.x; i < n; i += gridDim.x * step)
        sums[1] += input[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// Changed: 16 bytes per load, several loads in flight, and as many blocks as the GPU can hold.
extern "C" __global__ void reduce_vectorized(const float* input, float* output, unsigned n) {
    __shared__ float warp_sums[max_threads / warp_size];
    const float sum = sum_whole_warps(many_elements(input, n), warp_sums);
    if (threadIdx.x == 0) output[blockIdx.x] = sum;
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
extern "C" __global__ void reduce_single_pass(const float* input, float* block_sums, unsigned n,
                                              float* output, unsigned* ticket) {
    __shared__ float warp_sums[max_threads / warp_size], last_sums[max_threads / warp_size];
    __shared__ bool last;
    const unsigned t = threadIdx.x;
    const float sum = sum_whole_warps(many_elements(input, n), warp_sums);
    if (t == 0) {
        block_sums[blockIdx.x] = sum;
        last = comes_last(ticket);
    }
    // Removes a read-after-write hazard: every thread reads `last`, which thread 0 has just
    // written.
    __syncthreads();
    if (!last) return;
    const float total = sum_whole_warps(stored_sums(block_sums), last_sums);
    if (t == 0) *output = total;
}
