// Sums of n floats, as two tutorials have them. A block adds as many elements as it has threads and
// stores one partial sum; the host adds the partial sums. Blocks of 1 to 1024 threads; any n.

constexpr unsigned max_threads = 1024;

// A tutorial's sumWithinBlock: each step adds the upper half of the elements that are not yet added
// up to their lower half.
extern "C" __global__ void sum_within_block(const float* input, float* output, unsigned n) {
    __shared__ float shared_data[max_threads];
    const unsigned thread = threadIdx.x;
    const unsigned i = blockIdx.x * blockDim.x + thread;
    shared_data[thread] = i < n ? input[i] : 0;
    // Removes a read-after-write hazard: the first step reads elements that other threads have just
    // written.
    __syncthreads();

    // If `live` is odd, the middle element has no partner and is added in a later step.
    for (unsigned live = blockDim.x; live > 1;) {
        const unsigned half = (live + 1) / 2;
        if (thread + half < live) shared_data[thread] += shared_data[thread + half];
        // Removes a read-after-write hazard: the next step reads sums that other threads write in
        // this step.
        __syncthreads();
        live = half;
    }
    if (thread == 0) output[blockIdx.x] = shared_data[0];
}

extern __shared__ float sdata[];  // one float for each thread, allocated at launch

// The first kernel of Harris, "Optimizing Parallel Reduction in CUDA": each step adds neighbours.
// The remainder takes many instructions, and the threads that add are spread over all warps, which
// therefore diverge.
extern "C" __global__ void reduce0(const float* input, float* output, unsigned n) {
    const unsigned thread = threadIdx.x;
    const unsigned i = blockIdx.x * blockDim.x + thread;
    sdata[thread] = i < n ? input[i] : 0;
    // Removes a read-after-write hazard: the first step reads elements that other threads have just
    // written.
    __syncthreads();

    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        // The second test keeps a block whose size is no power of two from reading past its end.
        if (thread % (2 * s) == 0 && thread + s < blockDim.x) sdata[thread] += sdata[thread + s];
        // Removes a read-after-write hazard: the next step reads sums that other threads write in
        // this step.
        __syncthreads();
    }
    if (thread == 0) output[blockIdx.x] = sdata[0];
}
