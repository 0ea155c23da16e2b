// The dot product of two vectors, after "CUDA by Example" (Sanders and Kandrot), section 5.3.1.
// Each thread multiplies and adds elements that are one grid apart. The threads of a block then add
// their sums in shared memory and store one partial sum; the host adds the partial sums. Any number
// of elements and of blocks; blocks of 1 to 1024 threads.

constexpr unsigned max_threads = 1024;

extern "C" __global__ void dot_book(const float* a, const float* b, float* partial, unsigned n) {
    __shared__ float cache[max_threads];
    const unsigned thread = threadIdx.x;
    const unsigned threads_of_grid = blockDim.x * gridDim.x;

    float sum = 0;
    for (unsigned i = thread + blockIdx.x * blockDim.x; i < n; i += threads_of_grid)
        sum += a[i] * b[i];
    cache[thread] = sum;
    // Removes a read-after-write hazard: the first step below reads elements of the cache that
    // other threads have just written.
    __syncthreads();

    // The first `live` elements are not yet added up. Each step adds their upper half to the lower
    // half. If `live` is odd, the middle element has no partner and is added in a later step.
    for (unsigned live = blockDim.x; live > 1;) {
        const unsigned half = (live + 1) / 2;
        if (thread + half < live) cache[thread] += cache[thread + half];
        // Removes a read-after-write hazard: the next step reads sums that other threads write in
        // this step.
        __syncthreads();
        live = half;
    }
    if (thread == 0) partial[blockIdx.x] = cache[0];
}

// The rest of this file is dot_book with its barriers left out or misplaced.

// The sum of the products that this thread computes.
__device__ float products(const float* a, const float* b, unsigned n) {
    float sum = 0;
    for (unsigned i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x)
        sum += a[i] * b[i];
    return sum;
}

// Stands where a barrier is left out. It keeps the compiler from holding sums in registers over
// several steps, so that the threads still race in shared memory.
__device__ void keep_order() {
    asm volatile("" ::: "memory");
}

// `first_barrier` and `loop_barrier` are known when the kernels below are compiled: each has its
// own copy of this function.
__device__ void dot_without(const float* a, const float* b, float* partial, unsigned n,
                            bool first_barrier, bool loop_barrier) {
    __shared__ float cache[max_threads];
    const unsigned thread = threadIdx.x;
    cache[thread] = products(a, b, n);
    // Removes the read-after-write hazard between these writes and the first step's reads.
    if (first_barrier)
        __syncthreads();
    else
        keep_order();
    for (unsigned live = blockDim.x; live > 1;) {
        const unsigned half = (live + 1) / 2;
        if (thread + half < live) cache[thread] += cache[thread + half];
        // Removes the read-after-write hazard between this step's writes and the next one's reads.
        if (loop_barrier)
            __syncthreads();
        else
            keep_order();
        live = half;
    }
    if (thread == 0) partial[blockIdx.x] = cache[0];
}

extern "C" __global__ void dot_no_first_barrier(const float* a, const float* b, float* partial,
                                                unsigned n) {
    dot_without(a, b, partial, n, false, true);
}

extern "C" __global__ void dot_no_loop_barrier(const float* a, const float* b, float* partial,
                                               unsigned n) {
    dot_without(a, b, partial, n, true, false);
}

extern "C" __global__ void dot_no_barriers(const float* a, const float* b, float* partial,
                                           unsigned n) {
    dot_without(a, b, partial, n, false, false);
}

// The "optimization" of the book's section 5.3.2: only the threads that add wait. The other threads
// skip the barrier, leave the loop and end. GPUs since Volta do not wait for threads that have
// ended; the book expects this kernel to hang.
extern "C" __global__ void dot_divergent(const float* a, const float* b, float* partial,
                                         unsigned n) {
    __shared__ float cache[max_threads];
    const unsigned thread = threadIdx.x;
    cache[thread] = products(a, b, n);
    // Removes the read-after-write hazard between these writes and the first step's reads.
    __syncthreads();
    for (unsigned live = blockDim.x; live > 1;) {
        const unsigned half = (live + 1) / 2;
        if (thread + half < live) {
            cache[thread] += cache[thread + half];
            // Meant to remove the hazard between two steps, but not every thread reaches it.
            __syncthreads();
        }
        live = half;
    }
    if (thread == 0) partial[blockIdx.x] = cache[0];
}

// `volatile` and the "memory" clobber keep the compiler from reading the clock on the other side of
// a barrier.
__device__ long long clock_now() {
    long long now;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(now)::"memory");
    return now;
}

// dot_divergent, but each thread lives for `hold` more clocks after its last step, so that the
// barrier has threads to wait for. waited[block] is the number of clocks that thread 0 of the block
// spent at its barriers.
extern "C" __global__ void dot_divergent_bounded(const float* a, const float* b, float* partial,
                                                 unsigned n, long long hold, long long* waited) {
    __shared__ float cache[max_threads];
    const unsigned thread = threadIdx.x;
    cache[thread] = products(a, b, n);
    // Removes the read-after-write hazard between these writes and the first step's reads.
    __syncthreads();
    long long clocks = 0;
    for (unsigned live = blockDim.x; live > 1;) {
        const unsigned half = (live + 1) / 2;
        if (thread + half < live) {
            cache[thread] += cache[thread + half];
            const long long arrived = clock_now();
            // Meant to remove the hazard between two steps, but not every thread reaches it.
            __syncthreads();
            clocks += clock_now() - arrived;
        }
        live = half;
    }
    if (thread == 0) {
        partial[blockIdx.x] = cache[0];
        waited[blockIdx.x] = clocks;
        return;
    }
    const long long start = clock_now();
    while (clock_now() - start < hold) {
    }
}
