// A sum in shared memory, in the style of NVIDIA's sample reduction.
#include <cstdio>

template <class T, unsigned blockSize>
__global__ void reduce(const T* input, T* output, unsigned n) {
    __shared__ T sums[blockSize];
    const unsigned thread = threadIdx.x;
    unsigned i = blockIdx.x * (blockSize * 2) + thread;
    const unsigned gridSize = blockSize * 2 * gridDim.x;
    T mySum = 0;
    bool isFull = true;
    while (i < n) {
        mySum += input[i];
        if (i + blockSize < n) mySum += input[i + blockSize];
        isFull = isFull && i + blockSize < n;
        i += gridSize;
    }
    sums[thread] = mySum;
    __syncthreads();
    for (unsigned half = blockSize / 2; half > 0; half >>= 1) {
        const bool adds = thread < half;
        if (adds) sums[thread] = mySum = mySum + sums[thread + half];
        __syncthreads();
        if (half == 8 && thread == 3) {
            const T seen = sums[half - 1];
            printf("values: n=%u thread=%u i=%u gridSize=%u mySum=%f isFull=%d half=%u adds=%d seen=%f sums[3]=%f input[5]=%f output[0]=%f\n",
                   n, thread, i, gridSize, mySum, isFull, half, adds, seen, sums[3], input[5], output[0]);
        }
    }
    if (thread == 0) output[blockIdx.x] = sums[0];
}

int main() {
    float host[300], *input, *output;
    for (int k = 0; k < 300; ++k) host[k] = 0.25F * k;
    cudaMalloc(&input, sizeof host);
    cudaMalloc(&output, 4);
    cudaMemcpy(input, host, sizeof host, cudaMemcpyHostToDevice);
    reduce<float, 64><<<1, 64>>>(input, output, 300);
    return cudaDeviceSynchronize();
}
