// cudaHostRegister() makes memory of malloc() known to the device.
#include <cstdlib>

__global__ void scale(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}

int main() {
    const int n = 300;
    float* x = (float*)malloc(n * sizeof(float));
    cudaHostRegister(x, n * sizeof(float), cudaHostRegisterDefault);
    for (int i = 0; i < n; ++i) x[i] = i;
    scale<<<3, 128>>>(x, n);
    cudaDeviceSynchronize();
}
