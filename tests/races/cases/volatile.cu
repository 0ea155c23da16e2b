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
