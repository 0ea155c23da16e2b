// The number of readings is an argument of the program: at most 128.
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void clear(float* readings, int count) {
    const int i = threadIdx.x;
    if (i < count) readings[i] = 0;
}

__global__ void mirror(float* readings, int count) {
    __shared__ float tile[128];
    const int i = threadIdx.x;
    if (i < count) tile[i] = readings[i];
    __syncthreads();
    if (i < count) readings[i] = tile[count - 1 - i];
}

int main(int argc, char** argv) {
    const int count = std::atoi(argv[1]);
    float* readings;
    cudaMalloc(&readings, count * sizeof(float));
    clear<<<1, 128>>>(readings, count);
    mirror<<<1, 128>>>(readings, count);
    cudaDeviceSynchronize();
}
