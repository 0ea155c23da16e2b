// A step of all blocks, then another one that needs it: nothing but a second launch, or grid.sync(), orders the two.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// Each block needs what its neighbours have computed.
template <bool FIXED>
__global__ void halo(const int* in, int* mid, int* out, int n) {
    const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
    mid[i] = in[i] * 2;
    __syncthreads();
    if (FIXED) cg::this_grid().sync();
    if (i > 0 && i < n - 1) out[i] = mid[i - 1] + mid[i] + mid[i + 1];
}

// Three steps, so two gaps: grid.sync() in one of them repairs one.
template <bool FIRST, bool SECOND>
__global__ void three_steps(const int* in, int* a, int* b, int* out) {
    const int i = int(blockIdx.x * blockDim.x + threadIdx.x), n = int(gridDim.x * blockDim.x);
    a[i] = in[i];
    if (FIRST) cg::this_grid().sync();
    b[i] = a[n - 1 - i];
    if (SECOND) cg::this_grid().sync();
    out[i] = b[n - 1 - i];
}

// One gap between the writes of two arrays and their reads.
template <bool FIXED>
__global__ void two_arrays(const int* in, int* a, int* b, int* out) {
    const int i = int(blockIdx.x * blockDim.x + threadIdx.x), n = int(gridDim.x * blockDim.x);
    a[i] = in[i];
    b[i] = -in[i];
    if (FIXED) cg::this_grid().sync();
    out[i] = a[n - 1 - i];
    out[n + i] = b[n - 1 - i];
}

// The rows of a block lack __syncthreads(), and the blocks a second launch: that does not keep shared memory.
template <bool BARRIER>
__global__ void tile_and_blocks(const int* in, int* mid, int* out) {
    __shared__ int tile[64];
    const int i = int(blockIdx.x * blockDim.x + threadIdx.x), n = int(gridDim.x * blockDim.x);
    tile[threadIdx.x] = in[i];
    mid[i] = in[i];
    if (BARRIER) __syncthreads();
    out[i] = tile[63 - threadIdx.x];
    out[n + i] = mid[(i + 64) % n];
}

// Both halves of a loop need the other one, of all blocks.
template <bool FIXED>
__global__ void relax(int* a, int* b, int steps) {
    const int i = int(blockIdx.x * blockDim.x + threadIdx.x), n = int(gridDim.x * blockDim.x);
    for (int step = 0; step < steps; ++step) {
        b[i] = a[(i + 64) % n] + 1;
        if (FIXED) cg::this_grid().sync();
        a[i] = b[(i + 64) % n] + 1;
        if (FIXED) cg::this_grid().sync();
    }
}

// Blocks count in one word.
template <bool FIXED>
__global__ void count(int* total) {
    if (threadIdx.x != 0) return;
    if (FIXED) atomicAdd(total, 1);
    else *total += 1;
}

// Each block keeps the largest number.
template <bool FIXED>
__global__ void largest(const int* in, int* most) {
    if (threadIdx.x != 0) return;
    const int x = in[blockIdx.x];
    if (FIXED) atomicMax(most, x);
    else if (x > *most) *most = x;
}

// The flags of two numbers each lack a fence of their own: these are two mistakes.
template <bool FIXED>
__global__ void two_flags(int* a, int* b, int* flags, int* out) {
    if (blockIdx.x == 0) {
        *a = 1;
        if (FIXED) __threadfence();
        atomicExch(&flags[0], 1);
        *b = 2;
        __threadfence();
        atomicExch(&flags[1], 1);
    } else {
        while (atomicAdd(&flags[0], 0) == 0) {}
        __threadfence();
        out[0] = *a;
        while (atomicAdd(&flags[1], 0) == 0) {}
        if (FIXED) __threadfence();
        out[1] = *b;
    }
}
