// The copy to the device is made, but the launch passes the pointer of the host.
#include <cstdlib>

__global__ void scale(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}

int main() {
    const int n = 300;
    float *h_x = static_cast<float*>(malloc(n * sizeof(float))), *d_x;
    for (int i = 0; i < n; ++i) h_x[i] = i;
    cudaMalloc(&d_x, n * sizeof(float));
    cudaMemcpy(d_x, h_x, n * sizeof(float), cudaMemcpyHostToDevice);
    scale<<<3, 128>>>(h_x, n);
    cudaMemcpy(h_x, d_x, n * sizeof(float), cudaMemcpyDeviceToHost);
}
