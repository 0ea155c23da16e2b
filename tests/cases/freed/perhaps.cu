// Nobody knows whether the program has freed the numbers before the launch.
#include <cstdlib>

__global__ void raise(int* p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) p[i] += 1;
}

int main() {
    int* numbers;
    cudaMalloc(&numbers, 128 * sizeof(int));
    cudaMemset(numbers, 0, 128 * sizeof(int));
    if (getenv("EARLY")) cudaFree(numbers);
    raise<<<2, 128>>>(numbers, 128);
}
