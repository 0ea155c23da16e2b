// Histograms of the warps in shared memory, in the style of NVIDIA's sample histogram.
#include <cstdio>

typedef unsigned char byte;
constexpr unsigned BINS = 64;

__device__ unsigned found;

__device__ __noinline__ void addByte(unsigned* warpBins, unsigned data) {
    const unsigned bin = data % BINS;
    const unsigned before = atomicAdd(warpBins + bin, 1);
    if (threadIdx.x == 9 && data == 90)
        printf("values: data=%u bin=%u before=%u warpBins[0]=%u\n", data, bin, before, warpBins[0]);
}

__global__ void histogram(unsigned* result, const uchar4* data, unsigned short count) {
    __shared__ unsigned bins[2][BINS];
    const byte warp = threadIdx.x >> 5;
    unsigned* warpBins = bins[warp];
    for (unsigned i = threadIdx.x; i < 2 * BINS; i += blockDim.x) bins[0][i] = 0;
    __syncthreads();
    unsigned short position = threadIdx.x;
    short left = short(count - position);
    for (; position < count; position += blockDim.x) {
        const uchar4 four = data[position];
        addByte(warpBins, four.x);
        addByte(warpBins, four.y);
        addByte(warpBins, four.z);
        addByte(warpBins, four.w);
    }
    __syncthreads();
    if (threadIdx.x < BINS) {
        unsigned sum = 0;
        for (int w = 0; w < 2; ++w) sum += bins[w][threadIdx.x];
        result[threadIdx.x] = sum;
        if (threadIdx.x == 9) {
            found = sum;
            printf("values: count=%d warp=%d position=%d left=%d sum=%u found=%u data[2].y=%d warpBins[1]=%u result[9]=%u\n",
                   count, warp, position, left, sum, found, data[2].y, warpBins[1], result[9]);
        }
    }
}

int main() {
    unsigned char host[400];
    for (int k = 0; k < 400; ++k) host[k] = (k * 7) % 251;
    host[36] = 90;
    uchar4* data;
    unsigned* result;
    cudaMalloc(&data, sizeof host);
    cudaMalloc(&result, 4 * BINS);
    cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice);
    histogram<<<1, 64>>>(result, data, 100);
    return cudaDeviceSynchronize();
}
