// cudaMalloc() gives `x` its memory only after the launch.
__global__ void clear(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = 0;
}

int main() {
    const int n = 300;
    float* x;
    clear<<<3, 128>>>(x, n);
    cudaMalloc(&x, n * sizeof(float));
    cudaDeviceSynchronize();
}
