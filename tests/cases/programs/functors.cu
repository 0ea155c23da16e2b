// Functors that a launch makes where it passes them: the template gets their classes.
enum class Mode { Add = 1, Times = 2 };
template <Mode M> struct Op { __device__ int operator()(int a, int b) const { return M == Mode::Add ? a + b : a * b; } };
struct Less { int limit; __device__ int operator()(int a, int b) const { return a < b && a < limit; } };
template <typename T, class F> __global__ void combine(const T* a, const T* b, T* c, int n, F f)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = f(a[i], b[i]);
}
template <Mode M> void run(const int* a, const int* b, int* c, int n)
{
    combine<<<(n + 127) / 128, 128>>>(a, b, c, n, Op<M>());
}
int main()
{
    const int n = 300;
    int *a, *b, *c;
    cudaMalloc(&a, n * sizeof(int)); cudaMalloc(&b, n * sizeof(int)); cudaMalloc(&c, n * sizeof(int));
    cudaMemset(a, 0, n * sizeof(int)); cudaMemset(b, 0, n * sizeof(int));
    run<Mode::Add>(a, b, c, n);
    run<Mode::Times>(a, c, b, n);
    cudaDeviceSynchronize();
}
