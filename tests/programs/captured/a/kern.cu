#include "../common.h"

// It has the name that the first buffer of a capture has.
__device__ float memory1 = 100;

__global__ void ka(float* values) {
    __shared__ float tile[64];
    tile[threadIdx.x] = values[threadIdx.x];
    __syncthreads();
    values[threadIdx.x] = twice(tile[63 - threadIdx.x]) + memory1;
}

void launch_a(float* values) { ka<<<1, 64>>>(values); }
