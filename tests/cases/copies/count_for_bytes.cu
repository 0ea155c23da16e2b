// cudaMemcpy() gets the count of the elements, not of their bytes: it copies a quarter of them.
#include <vector>

__global__ void scale(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}

int main() {
    const int n = 300;
    std::vector<float> h(n, 1.0f);
    float* x;
    cudaMalloc(&x, n * sizeof(float));
    cudaMemcpy(x, h.data(), n, cudaMemcpyHostToDevice);
    scale<<<3, 128>>>(x, n);
    cudaMemcpy(h.data(), x, n * sizeof(float), cudaMemcpyDeviceToHost);
}
