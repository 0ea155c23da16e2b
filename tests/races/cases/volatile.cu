// Volatile accesses, fences and scopes. One block where nothing else is said.

// f05: fences around volatile accesses that nobody polls order nothing.
template <bool right>
__global__ void between_fences(volatile int* a, int* out) {
    const int t = int(threadIdx.x);
    __threadfence_block();
    a[t] = t;
    if (right) __syncthreads();
    const int x = a[63 - t];
    __threadfence_block();
    out[t] = x;
}

// f06: nothing releases what the lock protects.
template <bool right>
__global__ void lock_without_release(volatile int* total, int* lock) {
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {}
        __threadfence();
        *total = int(threadIdx.x);
        if (right) __threadfence();
        atomicExch(lock, 0);
    }
}

// A volatile flag is polled; two warps.
template <bool right>
__global__ void polled_flag(volatile int* flag, int* message, int* out) {
    if (threadIdx.x == 0) {
        *message = 42;
        if (right) __threadfence();
        *flag = 1;
    } else if (threadIdx.x == 32) {
        while (*flag == 0) {}
        __threadfence();
        *out = *message;
    }
}

// As polled_flag, between two blocks.
template <bool right>
__global__ void polled_flag_of_blocks(volatile int* flag, int* message, int* out) {
    if (blockIdx.x == 0) {
        *message = 42;
        if (right) __threadfence();
        *flag = 1;
    } else {
        while (*flag == 0) {}
        __threadfence();
        *out = *message;
    }
}

// f05 between two blocks: there is no barrier for them.
__global__ void between_fences_of_blocks(volatile int* a, int* out) {
    const int b = int(blockIdx.x);
    __threadfence();
    a[b] = b;
    const int x = a[1 - b];
    __threadfence();
    out[b] = x;
}

// A volatile word is read once, not polled.
__global__ void looked_at_once(volatile int* flag, int* message, int* out) {
    if (threadIdx.x == 0) {
        *message = 42;
        __threadfence();
        *flag = 1;
    } else if (threadIdx.x == 32) {
        const int seen = *flag;
        __threadfence();
        *out = seen;
    }
}

// A lock that is given back by a volatile store.
template <bool right>
__global__ void unlocked_by_store(int* total, int* lock) {
    if (threadIdx.x % 32) return;
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    *total += 1;
    if (right) __threadfence();
    *(volatile int*)lock = 0;
}

// The lock and what it protects lie in one array.
template <bool right>
__global__ void lock_beside_total(volatile int* words) {
    if (threadIdx.x % 32) return;
    while (atomicCAS((int*)&words[0], 0, 1) != 0) {}
    __threadfence();
    words[1] = int(threadIdx.x);
    if (right) __threadfence();
    words[0] = 0;
}

// Two warps take turns, as a volatile word says.
template <bool right>
__global__ void turns(volatile int* turn, int* total) {
    if (threadIdx.x % 32) return;
    const int me = int(threadIdx.x / 32);
    for (int round = 0; round < 3; ++round) {
        while (*turn != me) {}
        __threadfence();
        *total += 1;
        if (right) __threadfence();
        *turn = 1 - me;
    }
}

// A fence before a volatile store makes no flag of it that nobody polls: the lock lacks its release.
template <bool right>
__global__ void total_of_blocks(volatile int* total, int* lock) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    *total = int(blockIdx.x);
    if (right) __threadfence();
    atomicExch(lock, 0);
}

// The store behind the lock.
template <bool right>
__global__ void store_behind_lock(volatile int* total, int* seen, int* lock) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    seen[blockIdx.x] = *total;
    if (right && blockIdx.x == 0) *total = 1;
    __threadfence();
    atomicExch(lock, 0);
    if (!right && blockIdx.x == 0) *total = 1;
}

// Each block waits for the flag of the block before it, in one array, and sets its own.
template <bool right>
__global__ void chain_of_blocks(volatile int* flag, int* data) {
    const int b = int(blockIdx.x);
    if (b > 0) {
        while (flag[b - 1] == 0) {}
        if (right) __threadfence();
        data[b] += data[b - 1];
    }
    if (right) __threadfence();
    flag[b] = 1;
}

// One word has a flag and its value: it hands over nothing else, so it needs no fence.
template <bool alone>
__global__ void value_with_flag(volatile unsigned long long* word, int* message, int* out) {
    if (blockIdx.x == 0) {
        if (!alone) *message = 42;
        *word = 1ull << 32 | 42;
    } else {
        unsigned long long seen;
        while (((seen = *word) >> 32) == 0) {}
        *out = alone ? int(seen) : *message;
    }
}

// A thread looks at a counter before it counts, by a volatile load: a relaxed one, which races with no atomic.
template <bool ATOMIC>
__global__ void looked_at_before_counting(int* size, int* data) {
    if (*(volatile int*)size >= 1000) return;
    if (ATOMIC)
        data[atomicAdd(size, 1)] = threadIdx.x;
    else
        *size = 1;
}
