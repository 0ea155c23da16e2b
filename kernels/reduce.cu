// Sums of n floats, one partial sum a block, added up by the host. The ladder goes from a
// tutorial's sumWithinBlock and the first kernel of Harris, "Optimizing Parallel Reduction in
// CUDA", up to one launch that leaves the whole sum at the rate at which memory can be read.
// Blocks of 1 to 1024 threads, for the last two kernels in whole warps; any n: threads without an
// element add zero.

constexpr unsigned max_threads = 1024;
constexpr unsigned warp_size = 32;

__device__ float element(const float* input, unsigned i, unsigned n) {
    return i < n ? input[i] : 0.0f;
}

// The block's share of `input` is two elements a thread; the first addition happens on the way in.
__device__ float two_elements(const float* input, unsigned n) {
    const unsigned i = blockIdx.x * 2 * blockDim.x + threadIdx.x;
    return element(input, i, n) + element(input, i + blockDim.x, n);
}

// Adds up data[0 .. blockDim.x) into data[0], each step's threads side by side. With an odd number
// the middle element waits for the next step.
__device__ void sum_sequential(float* data) {
    const unsigned t = threadIdx.x;
    for (unsigned live = blockDim.x; live > 1;) {
        const unsigned half = (live + 1) / 2;
        if (t + half < live) data[t] += data[t + half];
        // Read after write: the next step reads sums that other threads write in this one.
        __syncthreads();
        live = half;
    }
}

extern "C" __global__ void sum_within_block(const float* input, float* output, unsigned n) {
    __shared__ float shared_data[max_threads];
    const unsigned t = threadIdx.x;
    shared_data[t] = element(input, blockIdx.x * blockDim.x + t, n);
    // Read after write: the first step reads what other threads have loaded.
    __syncthreads();
    sum_sequential(shared_data);
    if (t == 0) output[blockIdx.x] = shared_data[0];
}

extern __shared__ float sdata[];  // one float a thread, given at launch

// Interleaved: neighbours first. The remainder is slow and the threads that add are spread over all
// warps, which therefore diverge.
extern "C" __global__ void reduce0(const float* input, float* output, unsigned n) {
    const unsigned t = threadIdx.x;
    sdata[t] = element(input, blockIdx.x * blockDim.x + t, n);
    // Read after write: the first step reads what other threads have loaded.
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        // Without the second test a block that is no power of two reads past its end.
        if (t % (2 * s) == 0 && t + s < blockDim.x) sdata[t] += sdata[t + s];
        // Read after write: the next step reads sums that other threads write in this one.
        __syncthreads();
    }
    if (t == 0) output[blockIdx.x] = sdata[0];
}

// The threads that add are the first ones, without gaps: whole warps drop out together.
extern "C" __global__ void reduce_sequential(const float* input, float* output, unsigned n) {
    const unsigned t = threadIdx.x;
    sdata[t] = element(input, blockIdx.x * blockDim.x + t, n);
    // Read after write: the first step reads what other threads have loaded.
    __syncthreads();
    sum_sequential(sdata);
    if (t == 0) output[blockIdx.x] = sdata[0];
}

// Half the blocks: in reduce_sequential half the threads only load.
extern "C" __global__ void reduce_first_add(const float* input, float* output, unsigned n) {
    const unsigned t = threadIdx.x;
    sdata[t] = two_elements(input, n);
    // Read after write: the first step reads what other threads have added up.
    __syncthreads();
    sum_sequential(sdata);
    if (t == 0) output[blockIdx.x] = sdata[0];
}

// The sum of the first `lanes` lanes, in lane 0; these and no others call it.
__device__ float sum_lanes(float value, unsigned lane, unsigned lanes) {
    const unsigned mask = 0xffffffffu >> (warp_size - lanes);
    for (unsigned offset = warp_size / 2; offset > 0; offset /= 2) {
        const float other = __shfl_down_sync(mask, value, offset);
        if (lane + offset < lanes) value += other;
    }
    return value;
}

// The sum of the whole block's values, in thread 0. `warp_sums` has max_threads / warp_size
// elements.
__device__ float sum_block(float value, float* warp_sums) {
    const unsigned t = threadIdx.x;
    const unsigned warp = t / warp_size;
    const unsigned lane = t % warp_size;
    const unsigned warps = (blockDim.x + warp_size - 1) / warp_size;
    const unsigned lanes = min(warp_size, blockDim.x - warp * warp_size);
    const float sum = sum_lanes(value, lane, lanes);
    if (lane == 0) warp_sums[warp] = sum;
    // Read after write: the first warp reads every warp's sum.
    __syncthreads();
    return t < warps ? sum_lanes(warp_sums[t], t, warps) : 0.0f;
}

// One barrier in all: lanes hand their sums on in registers.
extern "C" __global__ void reduce_shuffle(const float* input, float* output, unsigned n) {
    __shared__ float warp_sums[max_threads / warp_size];
    const float sum = sum_block(two_elements(input, n), warp_sums);
    if (threadIdx.x == 0) output[blockIdx.x] = sum;
}

// The sum over the lanes of a whole warp, in lane 0.
__device__ float sum_warp(float value) {
    for (unsigned offset = warp_size / 2; offset > 0; offset /= 2)
        value += __shfl_down_sync(0xffffffffu, value, offset);
    return value;
}

// sum_block() for a block of whole warps, which has no lanes to leave out.
__device__ float sum_whole_warps(float value, float* warp_sums) {
    const unsigned t = threadIdx.x;
    value = sum_warp(value);
    if (t % warp_size == 0) warp_sums[t / warp_size] = value;
    // Read after write: the first warp reads every warp's sum.
    __syncthreads();
    if (t >= warp_size) return 0.0f;
    return sum_warp(t < blockDim.x / warp_size ? warp_sums[t] : 0.0f);
}

constexpr unsigned loads = 4;  // of 16 bytes, that a thread has under way at a time

__device__ float sum_of(float4 v) {
    return (v.x + v.y) + (v.z + v.w);
}

// This thread's share of `input`, which is aligned to 16 bytes: of every gridDim.x-th tile of
// `loads` float4 a thread. Loads are streaming, as nothing is read twice.
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
    // The last tile may be a part of one, and the last vector too.
    for (; i < count; i += step) sums[0] += sum_of(__ldcs(vectors + i));
    for (i = 4 * count + blockIdx.x * step + threadIdx.x; i < n; i += gridDim.x * step)
        sums[1] += input[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// As many blocks, of whole warps, as keep the card busy and no more; each thread goes on with 16
// bytes a load and several loads under way.
extern "C" __global__ void reduce_vectorized(const float* input, float* output, unsigned n) {
    __shared__ float warp_sums[max_threads / warp_size];
    const float sum = sum_whole_warps(many_elements(input, n), warp_sums);
    if (threadIdx.x == 0) output[blockIdx.x] = sum;
}

// Whether this is the last block of the grid to come here, asked of one thread of each. What the
// thread stored before can be read by the last one's: the atomic both releases and acquires, which
// costs less than a __threadfence() on either side. `ticket` is 0 at first and is left so.
__device__ bool comes_last(unsigned* ticket) {
    const unsigned last = gridDim.x - 1;
    unsigned before;
    asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(__cvta_generic_to_global(ticket)), "r"(last)
                 : "memory");
    return before == last;
}

// This thread's share of all blocks' sums, read past the first-level cache, which doesn't see what
// other multiprocessors store; 8 loads are under way at a time, so that mostly one wait does.
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

// One launch instead of a launch and the host: the block that ends last adds up all blocks' sums,
// always in the same order.
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
    // Read after write: every thread reads `last`, and then, where it is set, other blocks' sums.
    __syncthreads();
    if (!last) return;
    const float total = sum_whole_warps(stored_sums(block_sums), last_sums);
    if (t == 0) *output = total;
}
