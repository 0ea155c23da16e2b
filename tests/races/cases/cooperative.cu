// Launches whose blocks run together.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

template <bool FIXED>
__global__ void two_passes(const int* in, int* mid, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    mid[i] = in[i] + 1;
    if (!FIXED && n == 0) cg::this_grid().sync();
    if (FIXED) cg::this_grid().sync();
    out[i] = mid[n - 1 - i];
}

// Each round reads what all blocks have written in the round before.
template <bool FIXED>
__global__ void rounds(int* a, int* b, int n) {
    auto grid = cg::this_grid();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int round = 0; round < 4; ++round) {
        b[i] = a[(i + 1) % n] + 1;
        grid.sync();
        a[i] = b[(i + blockDim.x) % n];
        if (FIXED) grid.sync();
    }
}

// The word arrives, but what was written before it may not.
__device__ unsigned arrived;
template <bool FIXED>
__global__ void own_barrier(const int* in, int* mid, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    mid[i] = in[i];
    __syncthreads();
    if (threadIdx.x == 0) {
        if (FIXED) __threadfence();
        atomicAdd(&arrived, 1);
        while (atomicAdd(&arrived, 0) % gridDim.x != 0) {}
        if (FIXED) __threadfence();
    }
    __syncthreads();
    out[i] = mid[n - 1 - i];
}

// The sum of all blocks, in the first one, behind the barrier of the grid.
template <bool FIXED>
__global__ void sum(const int* in, int* partial, int* out) {
    __shared__ int all;
    auto grid = cg::this_grid();
    if (threadIdx.x == 0) all = 0;
    __syncthreads();
    atomicAdd(&all, in[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) partial[blockIdx.x] = all;
    if (FIXED) grid.sync();
    else __syncthreads();
    if (blockIdx.x != 0 || threadIdx.x != 0) { if (!FIXED) grid.sync(); return; }
    int total = 0;
    for (int block = 0; block < gridDim.x; ++block) total += partial[block];
    out[0] = total;
    if (!FIXED) grid.sync();
}

// From the last block to the first one.
__global__ void in_turn(volatile int* turn, int* last) {
    int mine = gridDim.x - 1 - blockIdx.x;
    while (*turn != mine) {}
    __threadfence();
    *last += blockIdx.x;
    __threadfence();
    *turn = mine + 1;
}

// Lane 0 needs the sum of 16 lanes. Without FIXED it also adds what lane 16 has, which takes no part.
template <bool FIXED>
__global__ void sums_of_16(const int* in, int* out) {
    int v = in[blockIdx.x * blockDim.x + threadIdx.x];
    if (threadIdx.x < 16)
        for (int lanes = FIXED ? 8 : 16; lanes > 0; lanes /= 2)
            v += __shfl_down_sync(0xffff, v, lanes);
    cg::this_grid().sync();
    if (threadIdx.x == 0) out[blockIdx.x] = v;
}
