// The dot product of two vectors: each block adds its products in shared memory, the host adds the
// sums of the blocks. NO_BARRIER leaves out the barrier before the sums, DIVERGENT puts the one of
// the loop into the branch, where not every thread reaches it.
#include "book.h"

constexpr int n = 33 * 1024, threads = 256, blocks = 32;

__global__ void dot(const float* a, const float* b, float* sums) {
    __shared__ float cache[threads];
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    float sum = 0;
    for (; i < n; i += blockDim.x * gridDim.x) sum += a[i] * b[i];
    cache[threadIdx.x] = sum;
#ifndef NO_BARRIER
    __syncthreads();
#endif
    for (int half = blockDim.x / 2; half != 0; half /= 2) {
#ifdef DIVERGENT
        if (threadIdx.x < half) {
            cache[threadIdx.x] += cache[threadIdx.x + half];
            __syncthreads();
        }
#else
        if (threadIdx.x < half) cache[threadIdx.x] += cache[threadIdx.x + half];
        __syncthreads();
#endif
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = cache[0];
}

int main() {
    std::vector<float> a(n), b(n), sums(blocks);
    for (int i = 0; i < n; ++i) a[i] = i, b[i] = 2 * i;
    float *dev_a, *dev_b, *dev_sums;
    HANDLE_ERROR(cudaMalloc(&dev_a, n * sizeof(float)));
    HANDLE_ERROR(cudaMalloc(&dev_b, n * sizeof(float)));
    HANDLE_ERROR(cudaMalloc(&dev_sums, blocks * sizeof(float)));
    HANDLE_ERROR(cudaMemcpy(dev_a, a.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    HANDLE_ERROR(cudaMemcpy(dev_b, b.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    dot<<<blocks, threads>>>(dev_a, dev_b, dev_sums);
    HANDLE_ERROR(
        cudaMemcpy(sums.data(), dev_sums, blocks * sizeof(float), cudaMemcpyDeviceToHost));
    float sum = 0;
    for (const float part : sums) sum += part;
    // 2 * (0² + 1² + … + (n - 1)²)
    const double expected = 2.0 * (n - 1.0) * n * (2.0 * n - 1) / 6;
    std::printf("%s\n", sum > 0.999999 * expected && sum < 1.000001 * expected ? "right" : "wrong");
    cudaFree(dev_a);
    cudaFree(dev_b);
    cudaFree(dev_sums);
}
