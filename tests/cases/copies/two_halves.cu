// Two copies fill the array, and one launch works on the half that is filled before it.
#include <vector>

__global__ void scale(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}

int main() {
    const int n = 300;
    std::vector<float> h(n, 1.0f);
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMemcpy(x, h.data(), n / 2 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(x + n / 2, h.data(), n / 2 * sizeof(float), cudaMemcpyHostToDevice);
    scale<<<3, 128>>>(x, n);
    cudaMemcpy(y, h.data(), n / 2 * sizeof(float), cudaMemcpyHostToDevice);
    scale<<<3, 128>>>(y, n / 2);
    cudaDeviceSynchronize();
}
