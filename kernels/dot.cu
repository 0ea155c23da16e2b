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

// From here on the ladder of kernels/reduce.cu for the same sum, faster with each kernel.
constexpr int warp_size = 32;

// The sum of the first `lanes` lanes, in lane 0; these and no others call it.
__device__ float sum_lanes(float value, int lane, int lanes) {
    const unsigned mask = 0xffffffffu >> (warp_size - lanes);
    for (int offset = warp_size / 2; offset > 0; offset /= 2) {
        const float other = __shfl_down_sync(mask, value, offset);
        if (lane + offset < lanes) value += other;
    }
    return value;
}

// The sum of the whole block's values, in thread 0. `warp_sums` has max_threads / warp_size
// elements.
__device__ float sum_block(float value, float* warp_sums) {
    const int t = threadIdx.x;
    const int warp = t / warp_size, lane = t % warp_size;
    const int warps = (blockDim.x + warp_size - 1) / warp_size;
    const int lanes = min(warp_size, int(blockDim.x) - warp * warp_size);
    const float sum = sum_lanes(value, lane, lanes);
    if (lane == 0) warp_sums[warp] = sum;
    // Read after write: the first warp reads every warp's sum.
    __syncthreads();
    return t < warps ? sum_lanes(warp_sums[t], t, warps) : 0.0f;
}

// One barrier in all: lanes hand their sums on in registers.
extern "C" __global__ void dot_shuffle(const float* a, const float* b, float* partial, unsigned n) {
    __shared__ float warp_sums[max_threads / warp_size];
    const float sum = sum_block(products(a, b, n), warp_sums);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
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

constexpr unsigned loads = 4;  // of 16 bytes, of each vector, that a thread has under way at a time

__device__ float product(float4 x, float4 y) {
    return fmaf(x.x, y.x, x.y * y.y) + fmaf(x.z, y.z, x.w * y.w);
}

// products() of vectors that are aligned to 16 bytes, four elements a load: of every gridDim.x-th
// tile of `loads` float4 a thread. Loads are streaming, as nothing is read twice.
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
    // The last tile may be a part of one, and the last vector too.
    for (; i < count; i += step) sums[0] += product(__ldcs(as + i), __ldcs(bs + i));
    for (i = 4 * count + blockIdx.x * step + threadIdx.x; i < n; i += gridDim.x * step)
        sums[1] += a[i] * b[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// As many blocks, of whole warps, as keep the card busy, 16 bytes a load and several loads under
// way.
extern "C" __global__ void dot_vectorized(const float* a, const float* b, float* partial,
                                          unsigned n) {
    __shared__ float warp_sums[max_threads / warp_size];
    const float sum = sum_whole_warps(many_products(a, b, n), warp_sums);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
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
    // Read after write: every thread reads `last`, and then, where it is set, other blocks' sums.
    __syncthreads();
    if (!last) return;
    const float total = sum_whole_warps(stored_sums(partial), last_sums);
    if (t == 0) *output = total;
}
