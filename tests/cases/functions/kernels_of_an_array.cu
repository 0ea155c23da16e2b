// The loop launches both kernels of the array. The second one writes one element too far.
__global__ void fill(float* x, int n) {
    int i = threadIdx.x;
    if (i < n) x[i] = i;
}

__global__ void shift(float* x, int n) {
    int i = threadIdx.x;
    if (i < n) x[i + 1] = i;
}

int main() {
    const int n = 100;
    float* x;
    cudaMalloc(&x, n * sizeof(float));
    void (*kernels[])(float*, int) = {fill, shift};
    for (int k = 0; k < 2; ++k) kernels[k]<<<1, 128>>>(x, n);
    cudaDeviceSynchronize();
}
