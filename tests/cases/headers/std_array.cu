// Arrays of the standard library in device code, also in shared memory.
// nvcc: --expt-relaxed-constexpr
#include <array>
#include <limits>

__global__ void rotate(float* out) {
    __shared__ std::array<float, 32> tile;
    std::array<float, 4> own{1, 2, 3, 4};
    const std::array<float, 3> shift{};
    float largest = std::numeric_limits<float>::lowest();
    for (float v : own) largest = v > largest ? v : largest;
    tile[threadIdx.x] = largest + shift[threadIdx.x % shift.size()] + own.back();
    __syncthreads();
    out[threadIdx.x] = tile[tile.size() - 1 - threadIdx.x];
}

int main() {
    float* out;
    cudaMalloc(&out, 32 * sizeof(float));
    rotate<<<1, 32>>>(out);
    cudaDeviceSynchronize();
}
