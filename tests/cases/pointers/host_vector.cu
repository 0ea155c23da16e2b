// The kernel gets the address of a std::vector, which only the host can read.
#include <vector>

__global__ void scale(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}

int main() {
    std::vector<float> x(300, 1.0f);
    scale<<<3, 128>>>(x.data(), int(x.size()));
    cudaDeviceSynchronize();
}
