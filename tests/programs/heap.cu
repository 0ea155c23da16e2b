// The blocks of a kernel allocate memory and write it. With the argument "shared", all of them
// write what one of them has allocated.
#include "book.h"

__global__ void make(int** pieces) {
    pieces[blockIdx.x] = new int[64];
    for (int i = 0; i < 64; ++i) pieces[blockIdx.x][i] = i;
}

__global__ void add(int** pieces, bool to_first) {
    pieces[to_first ? 0 : blockIdx.x][threadIdx.x] += blockIdx.x;
}

__global__ void sum(int** pieces, int* sums) {
    for (int i = 0; i < 64; ++i) sums[blockIdx.x] += pieces[blockIdx.x][i];
    delete[] pieces[blockIdx.x];
}

int main(int count, char**) {
    constexpr int blocks = 40;
    int **pieces, *sums;
    HANDLE_ERROR(cudaMalloc(&pieces, blocks * sizeof *pieces));
    HANDLE_ERROR(cudaMallocManaged(&sums, blocks * sizeof *sums));
    for (int b = 0; b < blocks; ++b) sums[b] = 0;
    make<<<blocks, 1>>>(pieces);
    add<<<blocks, 64>>>(pieces, count > 1);
    sum<<<blocks, 1>>>(pieces, sums);
    HANDLE_ERROR(cudaDeviceSynchronize());
    std::printf("%d\n", sums[3]);
}
