// A functor as a variable and as a temporary, and a lambda, are launched.
// nvcc: --extended-lambda
#include <cuda_runtime.h>

struct Scale {
    float by;
    __host__ __device__ float operator()(float x) const { return by * x; }
};

template <class F>
__global__ void map(float* p, int n, F f) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = f(p[i]);
}

int main() {
    const int n = 300;
    float* p;
    cudaMalloc(&p, n * sizeof(float));
    cudaMemset(p, 0, n * sizeof(float));
    Scale twice{2};
    map<<<3, 128>>>(p, n, twice);
    map<<<3, 128>>>(p, n, Scale{3});
    map<<<3, 128>>>(p, n, [] __device__(float x) { return x + 1; });
    cudaDeviceSynchronize();
}
