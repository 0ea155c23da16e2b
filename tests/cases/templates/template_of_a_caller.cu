// The arguments of a kernel's template follow from those of the function that launches it.
#include <vector>

template <unsigned SIZE, typename T>
__global__ void reverse(T* numbers) {
    __shared__ T tile[SIZE];
    const unsigned t = threadIdx.x;
    tile[t] = numbers[t];
    __syncthreads();
    numbers[t] = tile[SIZE - 1 - t];
}

template <typename T>
void reverse_vector(const std::vector<T>& from) {
    constexpr unsigned size = 96;
    T* numbers;
    cudaMalloc(&numbers, size * sizeof(T));
    cudaMemcpy(numbers, from.data(), size * sizeof(T), cudaMemcpyHostToDevice);
    reverse<size, T><<<1, size>>>(numbers);
}

template <typename T>
void reverse_array(T* from, int count) {
    T* numbers;
    cudaMalloc(&numbers, count * sizeof(T));
    cudaMemcpy(numbers, from, count * sizeof(T), cudaMemcpyHostToDevice);
    reverse<160, T><<<1, count>>>(numbers);
}

int main() {
    std::vector<double> numbers(96);
    reverse_vector(numbers);
    unsigned short few[160];
    for (int i = 0; i < 160; ++i) few[i] = i;
    reverse_array(few, 160);
    cudaDeviceSynchronize();
}
