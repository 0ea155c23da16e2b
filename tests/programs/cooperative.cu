// Blocks of a cooperative launch wait for each other. Each round, a block adds what its neighbour had
// before; without the barrier of the grid it could read a number of the same round.
#include <cooperative_groups.h>

#include "book.h"

namespace cg = cooperative_groups;

__global__ void rounds(int* numbers, int* before, int count) {
    cg::grid_group grid = cg::this_grid();
    for (int round = 0; round < count; ++round) {
        if (threadIdx.x == 0) before[blockIdx.x] = numbers[blockIdx.x];
        grid.sync();
        if (threadIdx.x == 0) numbers[blockIdx.x] += before[(blockIdx.x + 1) % gridDim.x];
#ifndef ONE_SYNC
        grid.sync();
#endif
    }
}

int main() {
    constexpr int blocks = 8;
    int *numbers, *before, count = 5, can = 0;
    HANDLE_ERROR(cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, 0));
    HANDLE_ERROR(cudaMallocManaged(&numbers, blocks * sizeof(int)));
    HANDLE_ERROR(cudaMallocManaged(&before, blocks * sizeof(int)));
    for (int i = 0; i < blocks; ++i) numbers[i] = 1;
    void* arguments[] = {&numbers, &before, &count};
    HANDLE_ERROR(cudaLaunchCooperativeKernel((void*)rounds, dim3(blocks), dim3(64), arguments));
    HANDLE_ERROR(cudaDeviceSynchronize());
    int right = 0;
    for (int i = 0; i < blocks; ++i) right += numbers[i] == 32;  // doubled five times
    std::printf("%d, %d right\n", can, right);
}
