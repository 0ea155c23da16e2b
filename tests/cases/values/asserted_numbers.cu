// The assertion is about numbers that the program reads from a file.
#include <cassert>
#include <cstdio>
#include <cuda_runtime.h>

__global__ void invert(const int* weights, float* shares) {
    const int i = threadIdx.x;
    assert(weights[i] > 0);
    shares[i] = 1.0f / weights[i];
}

int main() {
    int weights[64];
    FILE* file = std::fopen("weights.bin", "rb");
    std::fread(weights, sizeof(int), 64, file);
    int* on_device;
    float* shares;
    cudaMalloc(&on_device, sizeof(weights));
    cudaMalloc(&shares, 64 * sizeof(float));
    cudaMemcpy(on_device, weights, sizeof(weights), cudaMemcpyHostToDevice);
    invert<<<1, 64>>>(on_device, shares);
    cudaDeviceSynchronize();
}
