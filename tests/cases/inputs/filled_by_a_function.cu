// A function stores the indices.
#include <cuda_runtime.h>

#include <vector>

__global__ void gather(const float* in, const int* from, float* out) {
    out[threadIdx.x] = in[from[threadIdx.x]];
}

void number(int* all, int n) {
    for (int i = 0; i < n; ++i) all[i] = i % 32;
}

int main() {
    std::vector<int> indices(64);
    number(indices.data(), 64);
    float *in, *out;
    int* from;
    cudaMalloc(&in, 32 * sizeof(float));
    cudaMalloc(&out, 64 * sizeof(float));
    cudaMalloc(&from, 64 * sizeof(int));
    cudaMemset(in, 0, 32 * sizeof(float));
    cudaMemcpy(from, indices.data(), 64 * sizeof(int), cudaMemcpyHostToDevice);
    gather<<<1, 64>>>(in, from, out);
    cudaDeviceSynchronize();
}
