// The view was taken before grow(), which frees what it points to.
struct View {
    float* values;
    int count;
};

struct Buffer {
    float* values = nullptr;
    int count = 0;
    void grow(int n) {
        if (values) cudaFree(values);
        cudaMalloc(&values, n * sizeof(float));
        cudaMemset(values, 0, n * sizeof(float));
        count = n;
    }
    View view() const { return {values, count}; }
};

__global__ void raise(View view) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < view.count) view.values[i] += 1;
}

int main() {
    Buffer buffer;
    buffer.grow(100);
    View view = buffer.view();
    raise<<<2, 64>>>(view);
    buffer.grow(150);
    raise<<<3, 64>>>(view);
    raise<<<3, 64>>>(buffer.view());
}
