// The number of elements follows from the type of a reference to an array.
template <int N>
__global__ void turn(int* numbers) {
    __shared__ int tile[N];
    tile[threadIdx.x] = numbers[threadIdx.x];
    __syncthreads();
    numbers[threadIdx.x] = tile[N - 1 - threadIdx.x];
}

template <int N>
void turn_array(const int (&from)[N]) {
    int* numbers;
    cudaMalloc(&numbers, 80 * sizeof(int));
    cudaMemcpy(numbers, from, sizeof(from), cudaMemcpyHostToDevice);
    turn<N><<<1, 80>>>(numbers);
}

int main() {
    int numbers[80] = {};
    turn_array(numbers);
    cudaDeviceSynchronize();
}
