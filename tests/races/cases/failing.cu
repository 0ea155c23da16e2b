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

// The error names the line, and no PTX.
template <bool FIXED>
__global__ void past_the_end(const int* a, int* b) {
    b[threadIdx.x] = a[threadIdx.x + (FIXED ? 0 : 1000)];
}

template <bool FIXED>
__global__ void misaligned(int* a, int* b) {
    *(long long*)(b + (FIXED ? 0 : 1)) = a[0];
}

__device__ __noinline__ void add(int* to, int value) { atomicAdd(to, value); }
template <bool FIXED>
__global__ void before_the_beginning(int* a, int* b) {
    add(FIXED ? b : b - 1000, a[threadIdx.x]);
}
