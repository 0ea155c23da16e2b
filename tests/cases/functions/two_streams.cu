// FAULT: nothing orders the launches of the two streams.
__global__ void fill(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = i;
}

__global__ void scale(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}

int main() {
    const int n = 300;
    float* x;
    cudaStream_t first, second;
    cudaStreamCreate(&first);
    cudaStreamCreate(&second);
    cudaMalloc(&x, n * sizeof(float));
    fill<<<3, 128, 0, first>>>(x, n);
    scale<<<3, 128, 0, second>>>(x, n);
    cudaDeviceSynchronize();
}
