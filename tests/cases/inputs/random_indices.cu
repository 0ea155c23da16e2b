// The indices are random numbers of a range.
#include <cuda_runtime.h>

#include <random>
#include <vector>

__global__ void gather(const float* in, const int* from, float* out) {
    out[threadIdx.x] = in[from[threadIdx.x]];
}

int main() {
    std::mt19937 engine(1);
    std::uniform_int_distribution<int> distribution(0, 31);
    std::vector<int> indices(64);
    for (auto& index : indices) index = distribution(engine);
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
