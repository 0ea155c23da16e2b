// The second kernel reads what the first one has written, and one element that nobody has written.
__global__ void fill(float* p, int n) {
    int i = threadIdx.x;
    if (i < n) p[i] = 0.5f * i;
}

__global__ void add(const float* in, float* sum, int n) {
    int i = threadIdx.x;
    if (i < n) atomicAdd(sum, in[i]);
}

int main() {
    float *numbers, *sum, host;
    cudaMalloc(&numbers, 64 * sizeof(float));
    cudaMalloc(&sum, sizeof(float));
    cudaMemset(sum, 0, sizeof(float));
    fill<<<1, 64>>>(numbers, 63);
    add<<<1, 64>>>(numbers, sum, 64);
    cudaMemcpy(&host, sum, sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(numbers);
}
