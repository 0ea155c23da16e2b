// The second launch is written as the first one is, but cudaFree() stands between them.
__global__ void raise(float* p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] += 1;
}

void release(float* p) { cudaFree(p); }

int main() {
    float* numbers;
    cudaMalloc(&numbers, 200 * sizeof(float));
    cudaMemset(numbers, 0, 200 * sizeof(float));
    raise<<<2, 128>>>(numbers, 200);
    if (numbers != nullptr) release(numbers);
    raise<<<2, 128>>>(numbers, 200);
}
