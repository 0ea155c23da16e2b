// FAULT: without its file, the program hands over zeros, and an assertion of the kernel fails.
#include <cassert>
#include <cuda_runtime.h>
#include <fstream>
#include <vector>

__global__ void invert(const int* weights, float* shares) {
    const int i = threadIdx.x;
    assert(weights[i] > 0);
    shares[i] = 1.0f / weights[i];
}

int main() {
    std::vector<int> weights(64);
    std::ifstream file("weights.bin", std::ios::binary);
    file.read((char*)weights.data(), 64 * sizeof(int));
    int* on_device;
    float* shares;
    cudaMalloc(&on_device, 64 * sizeof(int));
    cudaMalloc(&shares, 64 * sizeof(float));
    cudaMemcpy(on_device, weights.data(), 64 * sizeof(int), cudaMemcpyHostToDevice);
    invert<<<1, 64>>>(on_device, shares);
    cudaDeviceSynchronize();
}
