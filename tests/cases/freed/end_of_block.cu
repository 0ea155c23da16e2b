// The destructor of the buffer frees the memory of `numbers` where the block ends.
struct Buffer {
    float* data;
    explicit Buffer(int n) {
        cudaMalloc(&data, n * sizeof(float));
        cudaMemset(data, 0, n * sizeof(float));
    }
    ~Buffer() { cudaFree(data); }
};

__global__ void raise(float* numbers, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) numbers[i] += 1;
}

int main() {
    const int n = 200;
    float* numbers;
    {
        Buffer buffer(n);
        numbers = buffer.data;
        raise<<<2, 128>>>(numbers, n);
    }
    raise<<<2, 128>>>(numbers, n);
    cudaDeviceSynchronize();
}
