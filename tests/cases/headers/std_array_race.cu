// The barrier between writing and reading the array in shared memory is missing.
// nvcc: --expt-relaxed-constexpr
#include <array>

__global__ void turn(int* out) {
    __shared__ std::array<int, 64> tile;
    tile[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = tile[63 - threadIdx.x];
}

int main() {
    int* out;
    cudaMalloc(&out, 64 * sizeof(int));
    turn<<<1, 64>>>(out);
    cudaDeviceSynchronize();
}
