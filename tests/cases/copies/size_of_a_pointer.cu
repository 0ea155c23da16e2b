// sizeof(total) is the size of the pointer, so that only two counts become 0.
__global__ void count(const int* values, int* total, int n) {
    int i = threadIdx.x;
    if (i < n) atomicAdd(&total[values[i] % 16], 1);
}

int main() {
    const int n = 100;
    int *values, *total;
    cudaMalloc(&values, n * sizeof(int));
    cudaMemset(values, 0x12, n * sizeof(int));
    cudaMalloc(&total, 16 * sizeof(int));
    cudaMemset(total, 0, sizeof(total));
    count<<<1, 128>>>(values, total, n);
    cudaDeviceSynchronize();
}
