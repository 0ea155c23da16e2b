// Functions return what they have allocated, one of them in an object that owns it.
#include <memory>
struct Freed {
    void operator()(void* p) const { cudaFree(p); }
};
template <class T>
using Owner = std::unique_ptr<T[], Freed>;

template <class T>
T* on_device(size_t n) {
    T* p = nullptr;
    cudaMalloc(&p, n * sizeof(T));
    return p;
}

template <class T>
Owner<T> owned(size_t n) {
    T* p;
    cudaMalloc(&p, n * sizeof(T));
    return Owner<T>(p);
}

__global__ void square(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] * in[i];
}

int main() {
    const int n = 777;
    float *in = on_device<float>(n), *out = on_device<float>(n);
    square<<<(int)ceil(float(n) / 256), 256>>>(in, out, n);
    auto few = owned<float>(100);
    square<<<4, 32>>>(few.get(), few.get(), 101);
}
