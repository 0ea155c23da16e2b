// Kernels with the barriers, groups and algorithms of the CUDA Toolkit's libraries. Only the one that says so has a
// race. 128 threads.

#include <cooperative_groups.h>

#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cuda/barrier>

#define KERNEL extern "C" __global__ void

namespace cg = cooperative_groups;

// Each thread reads what a thread of the next warp wrote.
KERNEL cuda_barrier(unsigned* out) {
    __shared__ unsigned cell[256];
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    unsigned sum = 0;
#pragma unroll 1
    for (unsigned round = 0; round < 3; ++round) {
        cell[threadIdx.x] = threadIdx.x + round;
        barrier.arrive_and_wait();
        sum += cell[(threadIdx.x + 32) % blockDim.x];
        barrier.arrive_and_wait();
    }
    out[threadIdx.x] = sum;
}
// As a round of cuda_barrier, but no thread waits for the others: a race.
KERNEL cuda_barrier_no_wait(unsigned* out) {
    __shared__ unsigned cell[256];
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    cell[threadIdx.x] = threadIdx.x;
    (void)barrier.arrive();
    out[threadIdx.x] = cell[(threadIdx.x + 32) % blockDim.x];
}

KERNEL tile_sync(unsigned* out) {
    __shared__ unsigned cell[256];
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    cell[threadIdx.x] = threadIdx.x;
    tile.sync();
    out[threadIdx.x] = cell[threadIdx.x ^ 8];
}
KERNEL block_reduce(unsigned* out) {
    using Reduce = cub::BlockReduce<unsigned, 128>;
    __shared__ Reduce::TempStorage storage;
    const unsigned sum = Reduce(storage).Sum(threadIdx.x);
    if (threadIdx.x == 0) out[0] = sum;
}

KERNEL block_scan(unsigned* out) {
    using Scan = cub::BlockScan<unsigned, 128>;
    __shared__ Scan::TempStorage storage;
    unsigned sum;
    Scan(storage).InclusiveSum(threadIdx.x, sum);
    out[threadIdx.x] = sum;
}

KERNEL block_radix_sort(unsigned* out) {
    using Sort = cub::BlockRadixSort<unsigned, 128, 2>;
    __shared__ Sort::TempStorage storage;
    unsigned keys[2] = {threadIdx.x * 77 % 128, threadIdx.x * 13 % 64};
    Sort(storage).Sort(keys);
    out[threadIdx.x] = keys[0] + keys[1];
}
