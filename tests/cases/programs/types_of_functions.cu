// FAULT: the host reads the result without cudaDeviceSynchronize(). A function template launches its kernel for two types.
template <typename T>
__global__ void axpy(T a, const T* x, T* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}

template <typename T>
bool test(int n) {
    T *x, *y;
    cudaMallocManaged(&x, n * sizeof(T));
    cudaMallocManaged(&y, n * sizeof(*y));
    for (int i = 0; i < n; ++i) x[i] = T(i);
    for (int i = 0; i < n; ++i) y[i] = T(1);
    axpy<T><<<(n + 63) / 64, 64>>>(T(2), x, y, n);
    return y[n - 1] == T(2 * n - 1);
}

int main() {
    return test<float>(500) && test<unsigned int>(77) ? 0 : 1;
}
