// A kernel of the CUDA Toolkit reads beyond an array: CUB is told that the array has more numbers.
#include <cub/device/device_reduce.cuh>
#include <cstdio>

int main() {
    constexpr int count = 9;
    int *numbers, *sum;
    void* workspace = nullptr;
    std::size_t bytes = 0;
    cudaMalloc(&numbers, count * sizeof *numbers);
    cudaMalloc(&sum, sizeof *sum);
    cudaMemset(numbers, 0, count * sizeof *numbers);
    cub::DeviceReduce::Sum(workspace, bytes, numbers, sum, 2 * count);
    cudaMalloc(&workspace, bytes);
    std::printf("%d numbers\n", count);
    std::fflush(stdout);

    cub::DeviceReduce::Sum(workspace, bytes, numbers, sum, 2 * count);
    return cudaDeviceSynchronize() == cudaSuccess;
}
