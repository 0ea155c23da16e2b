// The last launch, by a macro, mirrors in place.
#define CHECK(call)                        \
    do {                                   \
        if ((call) != cudaSuccess) return 1; \
    } while (0)
#define LAUNCH(kernel, grid, block, ...)    \
    do {                                    \
        kernel<<<grid, block>>>(__VA_ARGS__); \
        CHECK(cudaGetLastError());          \
    } while (0)
#define FOR_EACH(kernel, n, ...) LAUNCH(kernel, ((n) + 63) / 64, 64, ##__VA_ARGS__)

enum class Mode { add, multiply };

__device__ int calls;

template <Mode mode, class T = float>
__global__ void change(T* p, T by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (mode == Mode::add)
        p[i] += by;
    else
        p[i] *= by;
}

__global__ void count() {
    if (blockIdx.x == 0 && threadIdx.x == 0) ++calls;
}

template <class T>
__global__ void mirror(T* p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = p[n - 1 - i];
}

int main() {
    const int n = 130;
    float* p;
    CHECK(cudaMalloc(&p, n * sizeof(float)));
    CHECK(cudaMemset(p, 0, n * sizeof(float)));
    auto add = change<Mode::add>;
    LAUNCH(add, 3, 64, p, 2.0f, n);
    FOR_EACH(change<Mode::multiply>, n,
             p, 4.0f, n);
    FOR_EACH(mirror<float>, n, p, n);
}
