// What a thread has observed of a word comes before what it does next, and a release covers what
// comes before it within its block.

// The reader takes the message back by a plain store, or without looking at it first.
template <bool looks>
__global__ void taken_back(int* flag, int* out) {
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) *(volatile int*)flag = 1;
    } else if (threadIdx.x == 0) {
        if (looks)
            while (*(volatile int*)flag != 1) {}
        *flag = 2;
        *out = 7;
    }
}

// The last of two warps resets the counter in shared memory, or the first one does.
template <int resets>
__global__ void reset_in_shared(int* out) {
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0 && atomicAdd(&count, 1) == resets) count = 0;
    __syncthreads();
    if (threadIdx.x == 0) *out = count;
}

// Block 0 tells block 1 by `flag` that it may use `message`, which it stores before or behind the
// fence.
template <bool before>
__global__ void behind_the_fence(int* message, int* flag, int* out) {
    if (threadIdx.x) return;
    volatile int* polled = flag;
    if (blockIdx.x == 0) {
        if (before) atomicExch(message, 5);
        __threadfence();
        if (!before) atomicExch(message, 5);
        *polled = 1;
    } else {
        while (*polled != 1) {}
        __threadfence();
        *out = *message;
    }
}

// The first lane of each warp tells the other block that its warp is done, behind a __syncwarp() or
// without it.
template <bool sync>
__global__ void leader_tells(int* data, unsigned* count, int* out) {
    if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x;
        if (sync) __syncwarp();
        if (threadIdx.x % 32 == 0) {
            __threadfence();
            atomicAdd(count, 32);
        }
    } else {
        if (threadIdx.x == 0) {
            while (atomicAdd(count, 0) < blockDim.x) {}
            __threadfence();
        }
        __syncthreads();
        out[threadIdx.x] = data[blockDim.x - 1 - threadIdx.x];
    }
}

// One thread waits for the other block, and its block waits for the thread or does not.
template <bool sync>
__global__ void leader_waits(int* data, int* flag, int* out) {
    volatile int* polled = flag;
    if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x;
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) *polled = 1;
    } else {
        if (threadIdx.x == 0) {
            while (*polled != 1) {}
            __threadfence();
        }
        if (sync) __syncthreads();
        out[threadIdx.x] = data[threadIdx.x];
    }
}
