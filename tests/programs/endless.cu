// Does not come to its end, in the way that the argument names, or takes long: "timer".
#include <cooperative_groups.h>

#include <string>

#include "book.h"

namespace cg = cooperative_groups;

__global__ void wait_for_next_block(int* flags) {
    if (blockIdx.x == 0)
        while (atomicAdd(flags, 0) == 0) {
        }
    else
        atomicExch(flags, 1);
}

__global__ void sync_unequally_often(int* values) {
    for (unsigned round = 0; round <= blockIdx.x; ++round) {
        if (threadIdx.x == 0) values[blockIdx.x] = round;
        cg::this_grid().sync();
    }
}

__global__ void repeat(volatile int* value) {
    while (*value == 0) *value = 0;
}

__global__ void fail(int* values) {
    if (values[0] == 0) __trap();
}

__device__ unsigned long long timer() {
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

/// One warp counts in shared memory, and the other one waits for it.
__global__ void count(int* values, unsigned long long nanoseconds) {
    __shared__ volatile int counted, is_done;
    if (threadIdx.x == 0) counted = is_done = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (const unsigned long long begin = timer(); timer() - begin < nanoseconds;) ++counted;
        values[0] = counted > 0;
        __threadfence_block();
        is_done = 1;
    } else if (threadIdx.x == 32) {
        while (!is_done) {
        }
    }
}

int main(int, char** arguments) {
    const std::string how = arguments[1];
    int* values;
    HANDLE_ERROR(cudaMalloc(&values, 64 * sizeof *values));
    HANDLE_ERROR(cudaMemset(values, 0, 64 * sizeof *values));
    if (how == "later_block") wait_for_next_block<<<2, 32>>>(values);
    if (how == "grid_sync") {
        void* of_kernel[] = {&values};
        HANDLE_ERROR(cudaLaunchCooperativeKernel(sync_unequally_often, 3, 32, of_kernel, 0, 0));
    }
    if (how == "repeat") repeat<<<1, 64>>>(values);
    if (how == "timer") count<<<1, 64>>>(values, 4'000'000'000);
    if (how == "for_ever") count<<<1, 64>>>(values, ~0ull);
    if (how == "host") {
        int is_going_on = 1;
        do {
            fail<<<1, 32>>>(values);
        } while (cudaMemcpy(&is_going_on, values, sizeof(int), cudaMemcpyDeviceToHost) ||
                 is_going_on);
    }
    std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
