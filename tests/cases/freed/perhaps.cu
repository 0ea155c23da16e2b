// With an argument, the program frees the numbers before the launch.
__global__ void raise(int* p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] += 1;
}

int main(int argc, char**) {
    int* numbers;
    cudaMalloc(&numbers, 128 * sizeof(int));
    cudaMemset(numbers, 0, 128 * sizeof(int));
    if (argc > 1) cudaFree(numbers);
    raise<<<2, 128>>>(numbers, 128);
}
