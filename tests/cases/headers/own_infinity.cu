// Only headers of the toolkit may define again what every source has.
#include <cub/block/block_scan.cuh>
#include <cuda/std/cmath>

__global__ void scan(const float* in, float* out) {
    using Scan = cub::BlockScan<float, 32>;
    __shared__ typename Scan::TempStorage storage;
    float sum;
    Scan(storage).InclusiveSum(in[threadIdx.x], sum);
    out[threadIdx.x] = cuda::std::isinf(sum) ? INFINITY : sum;
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 32 * sizeof(float));
    cudaMalloc(&out, 32 * sizeof(float));
    cudaMemset(in, 0, 32 * sizeof(float));
    scan<<<1, 32>>>(in, out);
    cudaDeviceSynchronize();
}
