// Each launch gets memory that its buffer still owns: passed by reference, copied, moved, returned.
#include <utility>

class Buffer {
  public:
    explicit Buffer(int n) : n_(n) { cudaMalloc(&data_, n * sizeof(float)); }
    Buffer(const Buffer& other) : n_(other.n_) {
        cudaMalloc(&data_, n_ * sizeof(float));
        cudaMemcpy(data_, other.data_, n_ * sizeof(float), cudaMemcpyDeviceToDevice);
    }
    Buffer(Buffer&& other) : data_(other.data_), n_(other.n_) { other.data_ = nullptr; }
    ~Buffer() {
        if (data_) cudaFree(data_);
    }
    float* data() const { return data_; }
    int size() const { return n_; }

  private:
    float* data_ = nullptr;
    int n_;
};

__global__ void fill(float* numbers, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) numbers[i] = i;
}

Buffer make(int n) {
    Buffer buffer(n);
    fill<<<2, 128>>>(buffer.data(), n);
    return buffer;
}

void by_reference(const Buffer& buffer) {
    fill<<<2, 128>>>(buffer.data(), buffer.size());
}

void by_value(Buffer buffer) {
    fill<<<2, 128>>>(buffer.data(), buffer.size());
}

int main() {
    Buffer first(150);
    by_reference(first);
    by_value(first);
    by_value(first);
    Buffer second = make(170);
    fill<<<2, 128>>>(second.data(), 170);
    {
        Buffer third(std::move(first));
        fill<<<2, 128>>>(third.data(), third.size());
    }
    by_reference(second);
    cudaDeviceSynchronize();
}
