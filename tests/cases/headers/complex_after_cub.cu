// Complex numbers, and a sum over the block, whose header stands before theirs.
#include <cub/cub.cuh>
#include <thrust/complex.h>

__global__ void length(const thrust::complex<float>* z, float* sum) {
    using Reduce = cub::BlockReduce<float, 64>;
    __shared__ typename Reduce::TempStorage storage;
    const float all = Reduce(storage).Sum(thrust::abs(z[threadIdx.x] * thrust::complex<float>(0, 2)));
    if (threadIdx.x == 0) sum[0] = all < INFINITY ? all : NAN;
}

int main() {
    thrust::complex<float>* z;
    float* sum;
    cudaMalloc(&z, 64 * sizeof(*z));
    cudaMemset(z, 0, 64 * sizeof(*z));
    cudaMalloc(&sum, sizeof(float));
    length<<<1, 64>>>(z, sum);
    cudaDeviceSynchronize();
}
