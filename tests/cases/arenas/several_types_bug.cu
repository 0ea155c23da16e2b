// The doubles reach behind the end of the allocation.
struct Arena {
    char* base;
    size_t used = 0;
    explicit Arena(size_t bytes) { cudaMalloc(&base, bytes); cudaMemset(base, 0, bytes); }
    template <class T>
    T* take(size_t n) {
        T* p = reinterpret_cast<T*>(base + used);
        used += (n * sizeof(T) + 255) / 256 * 256;
        return p;
    }
};

__global__ void add(const float* a, const int* b, double* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i] + 1;
}

int main() {
    const int n = 100;
    Arena arena(512 + 512 + 768);
    float* a = arena.take<float>(n);
    int* b = arena.take<int>(n);
    double* c = arena.take<double>(n);
    add<<<2, 64>>>(a, b, c, n);
}
