// The array has n bytes, and the copy n elements.
#include <vector>

__global__ void scale(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}

int main() {
    const int n = 300;
    std::vector<float> h(n, 1.0f);
    float* x;
    cudaMalloc(&x, n);
    cudaMemcpy(x, h.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    scale<<<1, 64>>>(x, 64);
    cudaDeviceSynchronize();
}
