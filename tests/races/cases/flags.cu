// A flag hands data over. Without fences it orders nothing, and no barrier is what it lacks.
#include <cuda/atomic>

// Neither side has a fence.
template <bool RIGHT>
__global__ void no_fences(volatile int* flag, int* message, int* out) {
    if (blockIdx.x == 0) {
        *message = 42;
        if (RIGHT) __threadfence();
        *flag = 1;
    } else {
        while (*flag == 0) {}
        if (RIGHT) __threadfence();
        *out = *message;
    }
}

// Two warps of a block.
template <bool RIGHT>
__global__ void within_a_block(const int* in, int* out) {
    __shared__ volatile int flag;
    __shared__ int message;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        message = *in;
        if (RIGHT) __threadfence_block();
        flag = 1;
    } else if (threadIdx.x == 32) {
        while (flag == 0) {}
        if (RIGHT) __threadfence_block();
        *out = message;
    }
}

// The flag is an atomic.
template <bool RIGHT>
__global__ void atomic_flag(int* flag, int* message, int* out) {
    if (blockIdx.x == 0) {
        *message = 42;
        if (RIGHT) __threadfence();
        atomicExch(flag, 1);
    } else {
        while (atomicAdd(flag, 0) == 0) {}
        if (RIGHT) __threadfence();
        *out = *message;
    }
}

// With release and acquire the flag needs no fence.
template <bool RIGHT>
__global__ void by_atomic_ref(int* flag, int* message, int* out) {
    constexpr auto set = RIGHT ? cuda::memory_order_release : cuda::memory_order_relaxed;
    cuda::atomic_ref<int, cuda::thread_scope_device> ref(*flag);
    if (blockIdx.x == 0) {
        *message = 42;
        ref.store(1, set);
    } else {
        while (ref.load(cuda::memory_order_acquire) == 0) {}
        *out = *message;
    }
}

// One thread of each block sets or polls the flag for all of them.
template <bool RIGHT>
__global__ void for_the_block(volatile int* flag, int* row, int* out) {
    if (blockIdx.x == 0) {
        row[threadIdx.x] = int(threadIdx.x);
        __syncthreads();
        if (threadIdx.x == 0) {
            if (RIGHT) __threadfence();
            *flag = 1;
        }
    } else {
        if (threadIdx.x == 0) {
            while (*flag == 0) {}
            __threadfence();
        }
        __syncthreads();
        out[threadIdx.x] = row[63 - threadIdx.x];
    }
}

// The flag is set by a store that is not volatile.
template <bool RIGHT>
__global__ void plain_store(int* flag, int* message, int* out) {
    if (blockIdx.x == 0) {
        *message = 42;
        if (RIGHT) {
            __threadfence();
            atomicExch(flag, 1);
        } else {
            *flag = 1;
        }
    } else {
        while (*(volatile int*)flag == 0) {}
        __threadfence();
        *out = *message;
    }
}

// A lock that is given back without a fence.
template <bool RIGHT>
__global__ void lock_of_blocks(int* lock, int* total) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    *total += 1;
    if (RIGHT) __threadfence();
    atomicExch(lock, 0);
}

// Block 2 polls the flag of block 1, and reads what block 0 has written. The fences are there.
template <bool RIGHT>
__global__ void flag_of_another(int* flags, int* messages, int* out) {
    if (blockIdx.x < 2) {
        messages[blockIdx.x] = 42;
        __threadfence();
        atomicExch(&flags[blockIdx.x], 1);
    } else {
        while (atomicAdd(&flags[RIGHT ? 0 : 1], 0) == 0) {}
        __threadfence();
        *out = messages[0];
    }
}

// As flag_of_another, without a fence: fences alone would not order the two.
template <bool RIGHT>
__global__ void flag_of_another_without_fence(int* flags, int* messages, int* out) {
    if (blockIdx.x < 2) {
        messages[blockIdx.x] = 42;
        if (RIGHT) __threadfence();
        atomicExch(&flags[blockIdx.x], 1);
    } else {
        while (atomicAdd(&flags[RIGHT ? 0 : 1], 0) == 0) {}
        if (RIGHT) __threadfence();
        *out = messages[0];
    }
}

// The last block that counts resets the counter for the next launch. An atomic has told it that all others have
// counted, so their atomics come before the store.
template <bool right>
__global__ void reset_by_last(unsigned* count, int* out) {
    if (threadIdx.x) return;
    const bool is_last = atomicAdd(count, 1u) == gridDim.x - 1;
    if (is_last || !right) *count = 0;
    if (is_last) *out += 1;
}

// What the others did before they counted does not come before that: the counter has no fences.
__global__ void reset_and_read_by_last(unsigned* count, int* parts, int* out) {
    if (threadIdx.x) return;
    parts[blockIdx.x] = 1;
    if (atomicAdd(count, 1u) != gridDim.x - 1) return;
    *count = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) *out += parts[b];
}

// Each thread of the grid takes one lock, but those of block `beside`, of which one reads the sum without it.
template <unsigned beside>
__global__ void sum_of_all_threads(int* lock, int* sum, int* out) {
    bool done = blockIdx.x == beside;
    if (done && threadIdx.x == 40) *out = *sum;
    while (!done)
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            *sum += 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
}

// Likewise, but one thread writes what all others read.
template <unsigned beside>
__global__ void read_by_all_threads(int* lock, int* word, int* out) {
    bool done = blockIdx.x == beside;
    if (done && threadIdx.x == 40) *word = 7;
    while (!done)
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            out[blockIdx.x * blockDim.x + threadIdx.x] = *word;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
}
