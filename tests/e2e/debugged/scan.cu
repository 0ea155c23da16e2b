// An exclusive scan by an up-sweep and a down-sweep, in the style of NVIDIA's sample scan.
#include <cstdio>

typedef unsigned int uint;

__device__ __noinline__ uint4 scanFour(uint4 values, uint& total) {
    const uint first = values.x;
    values.y += first;
    values.z += values.y;
    values.w += values.z;
    total = values.w;
    if (threadIdx.x == 2)
        printf("values: first=%u values.x=%u values.w=%u total=%u\n", first, values.x, values.w, total);
    return values;
}

__global__ void scan(uint4* data, uint* totals, int size) {
    extern __shared__ uint sums[];
    const int thread = threadIdx.x;
    uint total = 0;
    uint4 four = scanFour(data[thread], total);
    sums[thread] = total;
    int offset = 1;
    for (int d = size >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (thread < d) {
            const int ai = offset * (2 * thread + 1) - 1, bi = offset * (2 * thread + 2) - 1;
            sums[bi] += sums[ai];
        }
        offset *= 2;
    }
    uint* const last = &sums[size - 1];
    __syncthreads();
    const long long difference = (long long)total - *last;
    if (thread == 5)
        printf("values: size=%d thread=%d total=%u four.y=%u four.w=%u offset=%d difference=%lld last[0]=%u sums[7]=%u data[1].z=%u totals[0]=%u\n",
               size, thread, total, four.y, four.w, offset, difference, *last, sums[7], data[1].z, totals[0]);
    data[thread] = four;
    totals[thread] = sums[thread];
}

int main() {
    uint host[32];
    for (int k = 0; k < 32; ++k) host[k] = 3 * k + 1;
    uint4* data;
    uint* totals;
    cudaMalloc(&data, sizeof host);
    cudaMalloc(&totals, 32);
    cudaMemset(totals, 0, 32);
    cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice);
    scan<<<1, 8, 32>>>(data, totals, 8);
    return cudaDeviceSynchronize();
}
