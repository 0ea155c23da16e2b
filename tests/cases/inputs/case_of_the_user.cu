// The user says which case is taken: the default one writes past the end.
#include <cstdlib>

__global__ void raise(int* p, int n) { if (threadIdx.x < n) p[threadIdx.x] += 1; }
__global__ void lower(int* p, int n) { if (threadIdx.x <= n) p[threadIdx.x] -= 1; }
__global__ void other(int* p) { p[threadIdx.x] = 1; }

int main(int argc, char** argv) {
    const int mode = atoi(argv[1]);
    int *p, threads = 32;
    cudaMalloc(&p, 64 * sizeof(int));
    cudaMemset(p, 0, 64 * sizeof(int));
    switch (mode) {
        case 1: raise<<<1, 64>>>(p, 64); break;
        default: threads = 65; lower<<<1, 65>>>(p, 64);
    }
    other<<<1, threads>>>(p);
    raise<<<1, 64>>>(p, 64);
}
