// Sums of n floats, one partial sum a block, added up by the host. The ladder goes from a
// tutorial's sumWithinBlock and the first kernel of Harris, "Optimizing Parallel Reduction in
// CUDA", up to warp shuffles. Blocks of 1 to 1024 threads, any n: threads without an element add
// zero.

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

// One barrier in all: lanes hand their sums on in registers.
extern "C" __global__ void reduce_shuffle(const float* input, float* output, unsigned n) {
    __shared__ float warp_sums[max_threads / warp_size];
    const unsigned t = threadIdx.x;
    const unsigned warp = t / warp_size;
    const unsigned lane = t % warp_size;
    const unsigned warps = (blockDim.x + warp_size - 1) / warp_size;
    const unsigned lanes = min(warp_size, blockDim.x - warp * warp_size);
    const float sum = sum_lanes(two_elements(input, n), lane, lanes);
    if (lane == 0) warp_sums[warp] = sum;
    // Read after write: the first warp reads every warp's sum.
    __syncthreads();
    if (t < warps) {
        const float total = sum_lanes(warp_sums[t], t, warps);
        if (t == 0) output[blockIdx.x] = total;
    }
}
