// Runs that fail keep what was found before.
#include <cassert>

__global__ void assertion(int* a, int* b) {
    a[threadIdx.x] = int(threadIdx.x);
    b[threadIdx.x] = a[threadIdx.x ^ 1];
    assert(threadIdx.x != 7);
}

__global__ void trap(int* a, int* b) {
    a[threadIdx.x] = int(threadIdx.x);
    b[threadIdx.x] = a[threadIdx.x ^ 1];
    if (a[0] == 0) __trap();
}

__global__ void no_failure(int* a, int* b) {
    a[threadIdx.x] = int(threadIdx.x);
    b[threadIdx.x] = a[threadIdx.x ^ 1];
}
