// run() gets a copy of the buffer, whose destructor frees the memory of the buffer.
class Buffer {
  public:
    explicit Buffer(int n) : n_(n) {
        cudaMalloc(&data_, n * sizeof(float));
        cudaMemset(data_, 0, n * sizeof(float));
    }
    ~Buffer() { cudaFree(data_); }
    float* data() const { return data_; }
    int size() const { return n_; }

  private:
    float* data_ = nullptr;
    int n_;
};

__global__ void raise(float* numbers, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) numbers[i] += 1;
}

void run(Buffer buffer) {
    raise<<<2, 128>>>(buffer.data(), buffer.size());
}

int main() {
    Buffer buffer(200);
    run(buffer);
    run(buffer);
    cudaDeviceSynchronize();
}
