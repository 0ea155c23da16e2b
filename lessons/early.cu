// Adds 1 to each number on the GPU,
// and adds all of them up on the host.
#include <cstdio>

constexpr int n = 256;

__global__ void add_one(int* numbers) {
    numbers[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

int main() {
    int* numbers;
    cudaMallocManaged(&numbers, n * sizeof(int));
    for (int i = 0; i < n; ++i) numbers[i] = i;

    add_one<<<n / 64, 64>>>(numbers);
    int sum = 0;
    for (int i = 0; i < n; ++i) sum += numbers[i];

    const int expected = n * (n + 1) / 2;
    std::printf("sum %d, expected %d\n", sum, expected);
    cudaFree(numbers);
    return sum == expected ? 0 : 1;
}
