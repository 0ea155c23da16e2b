// FAULT: nobody writes `in`. A scan of a block and a sum of a warp, with the header of all of CUB.
#include <cub/cub.cuh>
__global__ void scan(const int* in, int* out)
{
    using Scan = cub::BlockScan<int, 64>;
    using Sum = cub::WarpReduce<int>;
    __shared__ typename Scan::TempStorage scan;
    __shared__ typename Sum::TempStorage sum[2];
    int v = in[threadIdx.x], w = Sum(sum[threadIdx.x / 32]).Sum(v);
    Scan(scan).ExclusiveSum(v, v);
    out[threadIdx.x] = threadIdx.x % 32 == 0 ? v + w : v;
}
int main()
{
    int *in, *out;
    cudaMalloc(&in, 64 * sizeof(int));
    cudaMalloc(&out, 64 * sizeof(int));
    scan<<<1, 64>>>(in, out);
    size_t bytes = 0;
    cub::DeviceReduce::Sum(nullptr, bytes, in, out, 64);
}
