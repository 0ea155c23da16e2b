// A kernel writes each member of its structures. Nothing writes the four bytes behind `index`, and the host copies them.
#include "book.h"

struct Padded {
    double value;
    int index;
};

__global__ void fill(Padded* all) {
    all[threadIdx.x].value = threadIdx.x / 2.0;
    all[threadIdx.x].index = threadIdx.x;
}

int main() {
    Padded *device, host[3];
    HANDLE_ERROR(cudaMalloc(&device, sizeof host));
    fill<<<1, 3>>>(device);
    HANDLE_ERROR(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
    HANDLE_ERROR(cudaFree(device));
    std::printf("%g %d\n", host[2].value, host[2].index);
}
