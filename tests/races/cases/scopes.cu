// Releases, acquires and scopes between two blocks, or two warps.

// f01: the second read comes after the release, so block 1 may have written before it.
template <bool right>
__global__ void hidden_second_read(int* message, int* flag, int* out) {
    if (blockIdx.x == 0) {
        out[0] = *message;
        __threadfence();
        atomicExch(flag, 1);
        if (!right) out[1] = *message;
    } else {
        while (atomicAdd(flag, 0) == 0) {}
        __threadfence();
        *message = 1;
    }
}

// f02: atomic only among the threads of a block.
template <bool right>
__global__ void block_atomic(int* count) {
    right ? atomicAdd(count, 1) : atomicAdd_block(count, 1);
}

// f03: fences of block scope between blocks.
template <bool right>
__global__ void block_fence(int* message, int* flag, int* out) {
    if (blockIdx.x == 0) {
        *message = 42;
        right ? __threadfence() : __threadfence_block();
        atomicExch(flag, 1);
    } else {
        while (atomicAdd(flag, 0) == 0) {}
        __threadfence();
        *out = *message;
    }
}

// Its other half.
template <bool right>
__global__ void block_fence_of_reader(int* message, int* flag, int* out) {
    if (blockIdx.x == 0) {
        *message = 42;
        __threadfence();
        atomicExch(flag, 1);
    } else {
        while (atomicAdd(flag, 0) == 0) {}
        right ? __threadfence() : __threadfence_block();
        *out = *message;
    }
}

// A flag of block scope.
template <bool right>
__global__ void block_flag(int* message, int* flag, int* out) {
    if (blockIdx.x == 0) {
        *message = 42;
        __threadfence();
        right ? atomicExch(flag, 1) : atomicExch_block(flag, 1);
    } else {
        while (atomicAdd(flag, 0) == 0) {}
        __threadfence();
        *out = *message;
    }
}

// Block scope is enough in a block: two warps.
__global__ void block_scope_in_a_block(int* message, int* flag, int* out) {
    if (threadIdx.x == 0) {
        *message = 42;
        __threadfence_block();
        atomicExch_block(flag, 1);
    } else if (threadIdx.x == 32) {
        while (atomicAdd_block(flag, 0) == 0) {}
        __threadfence_block();
        *out = *message;
    }
}

// f04: no fence between the flag and the read.
template <bool right>
__global__ void no_acquire(int* message, int* flag, int* out) {
    if (blockIdx.x == 0) {
        *message = 42;
        __threadfence();
        atomicExch(flag, 1);
    } else {
        while (atomicAdd(flag, 0) == 0) {}
        if (right) __threadfence();
        *out = *message;
    }
}

// A barrier of the block counts as the fence behind the read.
__global__ void barrier_acquires(int* message, int* flag, int* out) {
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) {
            *message = 42;
            __threadfence();
            atomicExch(flag, 1);
        }
    } else {
        if (threadIdx.x == 0)
            while (atomicAdd(flag, 0) == 0) {}
        __syncthreads();
        out[threadIdx.x] = *message;
    }
}

// f10: only in another order of the blocks does block 0 read what another block has written.
template <bool right>
__global__ void order_of_blocks(int* total, int* lock) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    if (right || blockIdx.x != 0) __threadfence();
    *total = *total + 1;
    __threadfence();
    atomicExch(lock, 0);
}

// f09: block 0 waits for block 1.
__global__ void waits_for_next_block(int* message, int* flag, int* out) {
    if (blockIdx.x == 1) {
        *message = 42;
        __threadfence();
        atomicExch(flag, 1);
    } else {
        while (atomicAdd(flag, 0) == 0) {}
        __threadfence();
        *out = *message;
    }
}

// A barrier of the grid that a program does not have.
__global__ void steps_over_grid(const int* in, int* mid, int* out) {
    const int i = int(blockIdx.x * blockDim.x + threadIdx.x), n = int(gridDim.x * blockDim.x);
    mid[i] = in[i];
    __syncthreads();
    out[i] = mid[n - 1 - i];
}

// The others leave out their fence where block 2 has come first.
template <bool right>
__global__ void order_from_block_2(int* total, int* lock, int* first) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    const int before = atomicCAS(first, 0, int(blockIdx.x) + 1);
    if (right || before != 3) __threadfence();
    *total = *total + 1;
    __threadfence();
    atomicExch(lock, 0);
}
