// FAULT: the last pass of the loop runs past the end.
__global__ void square(float* numbers, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) numbers[i] *= numbers[i];
}

int main() {
    float* numbers;
    cudaMalloc(&numbers, 1000 * sizeof(float));
    cudaMemset(numbers, 0, 1000 * sizeof(float));
    for (int first = 0; first < 1000; first += 384) square<<<3, 128>>>(numbers + first, 384);
    cudaDeviceSynchronize();
}
