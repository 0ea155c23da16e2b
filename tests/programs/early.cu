// The host reads managed memory before the kernel is done: it finds what was there before.
#include "book.h"

__global__ void set(int* value) { *value = 7; }

int main() {
    int* value;
    HANDLE_ERROR(cudaMallocManaged(&value, sizeof(int)));
    *value = 1;
    set<<<1, 1>>>(value);
    std::printf("before %d, ", *value);
    HANDLE_ERROR(cudaDeviceSynchronize());
    std::printf("after %d\n", *value);
}
