// The dot product of "CUDA by Example" (Sanders, Kandrot), sections 5.3.1 and 5.3.2, and what
// becomes of it without its barriers. Each block leaves one partial sum; the host adds them up.
// Blocks of 1 to 1024 threads, any number of blocks and elements.

constexpr int max_threads = 1024;

// In place of a barrier that is left out: else the compiler could keep sums in registers over the
// steps, and the threads would no longer race in shared memory.
__device__ void keep_order() {
    asm volatile("" ::: "memory");
}

// Of the block's share of the vectors, this thread's.
__device__ float products(const float* a, const float* b, unsigned n) {
    float sum = 0.0f;
    for (unsigned i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x)
        sum += a[i] * b[i];
    return sum;
}

// Halves the live part of the cache until one element is left. With an odd number the middle
// element waits for the next step, so that the block size need not be a power of two.
template <bool FirstBarrier, bool LoopBarrier>
__device__ void dot(const float* a, const float* b, float* partial, unsigned n) {
    __shared__ float cache[max_threads];
    const unsigned t = threadIdx.x;
    cache[t] = products(a, b, n);
    // Read after write: cache[t + half] is another thread's, which must have stored it.
    if (FirstBarrier)
        __syncthreads();
    else
        keep_order();
    for (unsigned live = blockDim.x; live > 1;) {
        const unsigned half = (live + 1) / 2;
        if (t + half < live) cache[t] += cache[t + half];
        // Read after write: the next step reads sums that other threads write in this one.
        if (LoopBarrier)
            __syncthreads();
        else
            keep_order();
        live = half;
    }
    if (t == 0) partial[blockIdx.x] = cache[0];
}

extern "C" __global__ void dot_book(const float* a, const float* b, float* partial, unsigned n) {
    dot<true, true>(a, b, partial, n);
}

extern "C" __global__ void dot_no_first_barrier(const float* a, const float* b, float* partial,
                                                unsigned n) {
    dot<false, true>(a, b, partial, n);
}

extern "C" __global__ void dot_no_loop_barrier(const float* a, const float* b, float* partial,
                                               unsigned n) {
    dot<true, false>(a, b, partial, n);
}

extern "C" __global__ void dot_no_barriers(const float* a, const float* b, float* partial,
                                           unsigned n) {
    dot<false, false>(a, b, partial, n);
}

// The book's "optimization" of section 5.3.2: only threads that add wait. The others leave the loop
// and the kernel; a barrier doesn't count threads that have ended.
extern "C" __global__ void dot_divergent(const float* a, const float* b, float* partial,
                                         unsigned n) {
    __shared__ float cache[max_threads];
    const unsigned t = threadIdx.x;
    cache[t] = products(a, b, n);
    // Read after write: cache[t + half] is another thread's, which must have stored it.
    __syncthreads();
    for (unsigned live = blockDim.x; live > 1;) {
        const unsigned half = (live + 1) / 2;
        if (t + half < live) {
            cache[t] += cache[t + half];
            // Meant against the same hazard as in dot_book, but not reached by every thread.
            __syncthreads();
        }
        live = half;
    }
    if (t == 0) partial[blockIdx.x] = cache[0];
}

// Volatile and with a clobber: else the compiler moves the clock to the other side of a barrier.
__device__ long long clock_now() {
    long long now;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(now)::"memory");
    return now;
}

// dot_divergent where a thread lives on for `hold` clocks after the step that it skips, so that the
// barrier has somebody to wait for. waited[block]: the clocks that thread 0 spent at its barriers.
extern "C" __global__ void dot_divergent_bounded(const float* a, const float* b, float* partial,
                                                 unsigned n, long long hold, long long* waited) {
    __shared__ float cache[max_threads];
    const unsigned t = threadIdx.x;
    cache[t] = products(a, b, n);
    // Read after write: cache[t + half] is another thread's, which must have stored it.
    __syncthreads();
    long long clocks = 0;
    for (unsigned live = blockDim.x; live > 1;) {
        const unsigned half = (live + 1) / 2;
        if (t + half < live) {
            cache[t] += cache[t + half];
            const long long arrived = clock_now();
            // Meant against the same hazard as in dot_book, but not reached by every thread.
            __syncthreads();
            clocks += clock_now() - arrived;
        }
        live = half;
    }
    if (t == 0) {
        partial[blockIdx.x] = cache[0];
        waited[blockIdx.x] = clocks;
        return;
    }
    const long long start = clock_now();
    while (clock_now() - start < hold) {
    }
}
