// Kernels with fences or atomics that do not order the accesses beside them.

// A fence is no barrier, before the race or behind it.
template <bool BARRIER>
__global__ void fence_is_no_barrier(int* d) {
    __shared__ int s[128];
    const int t = threadIdx.x;
    s[t] = t;
    __threadfence_block();
    if (BARRIER) __syncthreads();
    d[t] = s[127 - t];
}

__global__ void fence_is_behind(int* d, int* sum) {
    __shared__ int s[128];
    const int t = threadIdx.x;
    s[t] = t;
    d[t] = s[127 - t];
    __threadfence();
    atomicAdd(sum, 1);
}

// The fence of the first block stands before its number, or between the number and the flag. Both are volatile words
// of one array.
template <bool BETWEEN>
__global__ void number_beside_a_flag(volatile int* d, int* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        if (!BETWEEN) __threadfence();
        d[1] = 7;
        if (BETWEEN) __threadfence();
        d[0] = 1;
    } else {
        while (d[0] == 0) {}
        __threadfence();
        out[0] = d[1];
    }
}

// The block that gets the first number of an atomic writes what block 0 reads. Which block that is depends on the order.
// Without the barrier its threads race, too.
template <bool BARRIER>
__global__ void first_one_writes(unsigned* ticket, int* d) {
    __shared__ unsigned mine;
    if (threadIdx.x == 0) mine = atomicAdd(ticket, 1);
    __syncthreads();
    if (mine == 0 && threadIdx.x == 0) d[0] = 5;
    if (BARRIER) __syncthreads();
    if (blockIdx.x == 0) d[1 + threadIdx.x] = d[0];
}

// The last block to come adds what all blocks have stored. Fences must stand before and behind the counter: bit 0 and
// bit 1 of FENCES.
template <int FENCES>
__global__ void added_by_the_last(const int* in, unsigned* count, int* part, int* out) {
    if (threadIdx.x != 0) return;
    part[blockIdx.x] = in[blockIdx.x];
    if (FENCES & 1) __threadfence();
    const bool is_last = atomicAdd(count, 1u) == gridDim.x - 1;
    if (FENCES & 2) __threadfence();
    if (!is_last) return;
    for (unsigned b = 0; b < gridDim.x; ++b) out[0] += part[b];
}

// The sum of doubles of the CUDA C++ Programming Guide: a plain load guesses what the compare-and-swap expects. Without
// SWAP, the load decides what a plain store leaves.
template <bool SWAP>
__global__ void added_by_swaps(const int* in, unsigned long long* sum) {
    unsigned long long old = *sum, expected;
    const auto more = [&](unsigned long long bits) {
        return __double_as_longlong(__longlong_as_double(bits) + in[threadIdx.x]);
    };
    if (!SWAP) {
        atomicMax(sum + 1, more(old));
        *sum = more(old);
        return;
    }
    do {
        expected = old;
        old = atomicCAS(sum, expected, more(expected));
    } while (expected != old);
}
