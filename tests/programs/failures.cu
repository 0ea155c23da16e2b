// A kernel fails in the way that the argument names.
#include <cassert>
#include <string>

#include "book.h"

__device__ __noinline__ int down(volatile int* values, int n) {
    values[n & 63] = n;
    return down(values, n + 1) + values[0];
}

using Function = int (*)(int);
__device__ int twice(int x) {
    return 2 * x;
}
__device__ Function functions[] = {twice, nullptr};

__global__ void trap(int* values) {
    if (values[threadIdx.x] == 0) __trap();
}
__global__ void check(int* values) {
    assert(values[threadIdx.x] == 1);
}
__global__ void stack(int* values) {
    *values = down(values, 0);
}
__global__ void call(int* values, int which) {
    values[threadIdx.x] = functions[which](threadIdx.x);
}

int main(int, char** arguments) {
    const std::string how = arguments[1];
    int* values;
    HANDLE_ERROR(cudaMalloc(&values, 64 * sizeof *values));
    HANDLE_ERROR(cudaMemset(values, 0, 64 * sizeof *values));
    if (how == "trap") trap<<<1, 32>>>(values);
    if (how == "assert") check<<<1, 32>>>(values);
    if (how == "stack") stack<<<1, 1>>>(values);
    if (how == "callee" || how == "none") call<<<1, 32>>>(values, how == "callee");
    std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
