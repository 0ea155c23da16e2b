// The table behind a variable of the device is read from a file: what it holds is not known.
#include <cstdio>
__device__ int* table;

__global__ void follow(float* out) { out[table[threadIdx.x]] = 1; }

int main() {
    int numbers[32], *on_device;
    float* out;
    FILE* file = std::fopen("table.bin", "rb");
    std::fread(numbers, sizeof(int), 32, file);
    cudaMalloc(&on_device, sizeof(numbers));
    cudaMemcpy(on_device, numbers, sizeof(numbers), cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(table, &on_device, sizeof on_device);
    cudaMalloc(&out, 16 * sizeof(float));
    follow<<<1, 32>>>(out);
    cudaDeviceSynchronize();
}
