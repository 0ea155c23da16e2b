// Kernels one after the other: which launch, line and thread has written a number last?
#include <cstdio>

__global__ void fill(float* values, float step) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    values[i] = step * i;
}

__global__ void grow(float* values) {
    values[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

__global__ void scale(float* scaled, const float* values, const float* factor, const float* shift) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    scaled[i] = values[i] * *factor + *shift;
}

__global__ void sum(float* total, const float* scaled, int n) {
    float all = 0;
    for (int i = 0; i < n; ++i) all += scaled[i];
    *total = all;
}

// Each block adds to what the blocks before it have left.
__global__ void add(int* counts) {
    atomicAdd(counts, blockIdx.x + 1);
}

int main() {
    constexpr int threads = 32, n = 2 * threads;
    float *values, *scaled, *factor, *shift, *total, result;
    int* counts;
    cudaMalloc(&values, n * sizeof(float));
    cudaMalloc(&scaled, n * sizeof(float));
    cudaMalloc(&factor, sizeof(float));
    cudaMalloc(&shift, sizeof(float));
    cudaMalloc(&total, sizeof(float));
    cudaMalloc(&counts, sizeof(int));
    const float two = 2, three = 3;
    cudaMemcpy(factor, &two, sizeof two, cudaMemcpyHostToDevice);
    cudaMemset(shift, 0, sizeof(float));
    cudaMemset(counts, 0, sizeof(int));
    fill<<<2, threads>>>(values, 1);
    fill<<<2, threads>>>(values, 2);
    grow<<<2, threads>>>(values);
    grow<<<2, threads>>>(values);
    scale<<<2, threads>>>(scaled, values, factor, shift);
    cudaMemcpy(factor, &three, sizeof three, cudaMemcpyHostToDevice);
    scale<<<2, threads>>>(scaled, values, factor, shift);
    sum<<<1, 1>>>(total, scaled, n);
    add<<<3, 1>>>(counts);
    cudaMemcpy(&result, total, sizeof result, cudaMemcpyDeviceToHost);
    std::printf("%g\n", result);
}
