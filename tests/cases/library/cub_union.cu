// A sort and a scan share a union, without a barrier between.
#include <cub/cub.cuh>

__global__ void sort_and_scan(const int* in, int* out) {
    using Sort = cub::BlockRadixSort<int, 128, 4>;
    using Scan = cub::BlockScan<int, 128>;
    __shared__ union {
        typename Sort::TempStorage sort;
        typename Scan::TempStorage scan;
    } shared;
    int items[4];
    for (int i = 0; i < 4; ++i) items[i] = in[threadIdx.x * 4 + i];
    Sort(shared.sort).Sort(items);
    Scan(shared.scan).InclusiveSum(items, items);
    for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = items[i];
}

int main() {
    int numbers[512];
    for (int i = 0; i < 512; ++i) numbers[i] = 511 - i;
    int *in, *out;
    cudaMalloc(&in, 512 * sizeof(int));
    cudaMalloc(&out, 512 * sizeof(int));
    cudaMemcpy(in, numbers, 512 * sizeof(int), cudaMemcpyHostToDevice);
    sort_and_scan<<<1, 128>>>(in, out);
    cudaDeviceSynchronize();
}
