// A function fills the vector, whose numbers decide how far each thread reads.
#include <cuda_runtime.h>

#include <vector>

__global__ void sums(const int* length, const float* in, float* out) {
    float sum = 0;
    for (int k = 0; k < length[threadIdx.x]; ++k) sum += in[threadIdx.x * 8 + k];
    out[threadIdx.x] = sum;
}

void read_lengths(std::vector<int>& lengths) {
    for (int i = 0; i < 32; ++i) lengths[i] = i % 9;
}

int main() {
    std::vector<int> lengths(32);
    read_lengths(lengths);
    int* length;
    float *in, *out;
    cudaMalloc(&length, 32 * sizeof(int));
    cudaMalloc(&in, 256 * sizeof(float));
    cudaMalloc(&out, 32 * sizeof(float));
    cudaMemset(in, 0, 256 * sizeof(float));
    cudaMemcpy(length, lengths.data(), 32 * sizeof(int), cudaMemcpyHostToDevice);
    sums<<<1, 32>>>(length, in, out);
    cudaDeviceSynchronize();
}
