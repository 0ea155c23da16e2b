// Launches of which the checks watch a sample of the blocks.
#include <cstdio>
#include <cstring>

#include "book.h"

constexpr int threads = 256, blocks = 8192;

// Each block turns its part of the numbers round, in a loop so that the launch takes long.
__global__ void turn(const int* in, int* out, int rounds) {
    __shared__ int tile[threads];
    const int at = blockIdx.x * threads + threadIdx.x;
    int sum = 0;
    for (int round = 0; round < rounds; ++round) {
        tile[threadIdx.x] = in[at] + round;
#ifndef NO_BARRIER
        __syncthreads();
#endif
        sum += tile[threads - 1 - threadIdx.x];
        __syncthreads();
    }
#ifdef HALO
    if (threadIdx.x == threads - 1) out[at + 1] = sum;  // of the next block
#endif
#ifdef FAR
    if (blockIdx.x == 5000) out[1 << 28] = sum;
#endif
    out[at] = sum;
}

int main() {
    constexpr int count = threads * blocks, rounds = 20;
    static int numbers[count + 1];
    for (int k = 0; k < count; ++k) numbers[k] = k % 1000;
    int *in, *out;
    HANDLE_ERROR(cudaMalloc(&in, sizeof numbers));
    HANDLE_ERROR(cudaMalloc(&out, sizeof numbers));
    HANDLE_ERROR(cudaMemcpy(in, numbers, sizeof numbers, cudaMemcpyHostToDevice));
    turn<<<blocks, threads>>>(in, out, rounds);
    static int results[count];
    const cudaError_t error = cudaMemcpy(results, out, sizeof results, cudaMemcpyDeviceToHost);
    bool right = error == cudaSuccess;
    for (int k = 0; k < count; ++k) {
        const int other = k / threads * threads + threads - 1 - k % threads;
        right = right && results[k] == rounds * numbers[other] + rounds * (rounds - 1) / 2;
    }
    std::puts(right ? "right" : "wrong");
    HANDLE_ERROR(cudaFree(in));
    HANDLE_ERROR(cudaFree(out));
}
