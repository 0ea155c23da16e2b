// The loop launches each of the kernels once. Only the second one has no barrier.
template <int SIZE, bool WAIT>
__global__ void reverse(int* numbers) {
    __shared__ int tile[SIZE];
    tile[threadIdx.x] = numbers[threadIdx.x];
    if (WAIT) __syncthreads();
    numbers[threadIdx.x] = tile[SIZE - 1 - threadIdx.x];
}

void run(int which, int* numbers) {
    switch (which) {
        case 0: reverse<64, true><<<1, 64>>>(numbers); break;
        case 1: reverse<128, false><<<1, 128>>>(numbers); break;
        case 2: reverse<256, true><<<1, 256>>>(numbers); break;
    }
}

int main() {
    int* numbers;
    cudaMalloc(&numbers, 256 * sizeof(int));
    cudaMemset(numbers, 0, 256 * sizeof(int));
    for (int which = 0; which < 3; ++which) run(which, numbers);
    cudaDeviceSynchronize();
}
