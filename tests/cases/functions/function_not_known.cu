// The user says which of the two functions it is. The second one writes past the end.
#include <cstdlib>
typedef int (*Op)(int);
__device__ int one(int i) { return i; }
__device__ int two(int i) { return 2 * i; }
__device__ Op ops[2] = {one, two};

__global__ void mark(int* p, Op op) { p[op ? op(threadIdx.x) : 0] = threadIdx.x; }

int main(int argc, char** argv) {
    Op host[2];
    cudaMemcpyFromSymbol(host, ops, sizeof host);
    int* p;
    cudaMalloc(&p, 64 * sizeof(int));
    mark<<<1, 64>>>(p, host[atoi(argv[1])]);
    cudaDeviceSynchronize();
}
