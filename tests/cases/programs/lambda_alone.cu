// FAULT: nobody writes the numbers. Only a lambda is passed to the kernel.
// nvcc: --extended-lambda
#include <cuda_runtime.h>

template <class F>
__global__ void map(float* p, int n, F f) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = f(p[i]);
}

int main() {
    float* p;
    cudaMalloc(&p, 300 * sizeof(float));
    map<<<3, 128>>>(p, 300, [] __device__(float x) { return x + 1; });
    cudaDeviceSynchronize();
}
