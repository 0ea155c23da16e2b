// The arguments of the kernels' templates follow from those of structures, and from a pack.
template <typename I, typename V>
struct Rows {
    const I* begins;
    const V* values;
    I count;
};

template <typename T>
struct Span {
    T* data;
    int size;
};

template <typename T>
class Vector {
  public:
    explicit Vector(int n) : n_(n) {
        cudaMalloc(&data_, n * sizeof(T));
        cudaMemset(data_, 0, n * sizeof(T));
    }
    Span<T> span() const { return {data_, n_}; }

  private:
    T* data_ = nullptr;
    int n_;
};

template <typename I, typename V>
__global__ void sums(Rows<I, V> rows, Span<V> out) {
    I r = threadIdx.x;
    if (r >= rows.count) return;
    V sum = 0;
    for (I k = rows.begins[r]; k < rows.begins[r + 1]; ++k) sum += rows.values[k];
    out.data[r] = sum;
}

template <typename T>
__global__ void raise(Span<T> span, T by) {
    int i = threadIdx.x;
    if (i < span.size) span.data[i] += by;
}

__device__ float total() { return 0; }
template <typename T, typename... Ts>
__device__ float total(T first, Ts... others) {
    return first + total(others...);
}

template <typename... Ts>
__global__ void add(float* out, int n, const Ts*... in) {
    int i = threadIdx.x;
    if (i < n) out[i] = total(in[i]...);
}

int main() {
    const short begins[] = {0, 2, 3, 6};
    short* d_begins;
    double *values, *out;
    cudaMalloc(&d_begins, sizeof(begins));
    cudaMemcpy(d_begins, begins, sizeof(begins), cudaMemcpyHostToDevice);
    cudaMalloc(&values, 6 * sizeof(double));
    cudaMemset(values, 0, 6 * sizeof(double));
    cudaMalloc(&out, 3 * sizeof(double));
    Rows<short, double> rows{d_begins, values, 3};
    sums<<<1, 32>>>(rows, Span<double>{out, 3});
    Vector<unsigned> counts(20);
    raise<<<1, 32>>>(counts.span(), 3u);
    auto span = counts.span();
    raise<<<1, 32>>>(span, 4u);
    float *x, *y;
    int* z;
    cudaMalloc(&x, 40);
    cudaMalloc(&y, 40);
    cudaMemset(y, 0, 40);
    cudaMalloc(&z, 40);
    cudaMemset(z, 0, 40);
    add<<<1, 32>>>(x, 10, y, z);
    cudaDeviceSynchronize();
}
