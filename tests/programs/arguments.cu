// A kernel with arguments of every kind that a capture writes down.
#include "book.h"

struct Box {
    float low[2];
    int* out;
    char tag;
    unsigned few : 5;
    int some : 6;
};

__constant__ int offsets[2];

__global__ void fill(Box box, int* shifted, const float* nothing, int negative, float third,
                     double tenth, bool flag, unsigned char byte) {
    if (threadIdx.x == 0) {
        box.out[0] = negative + offsets[1];
        shifted[0] = int(third * 3 + box.low[1]) + byte + flag + (nothing == nullptr) + box.tag;
        shifted[1] = 1000 * int(box.few) + box.some + (tenth == 0.1);
    }
}

template <int N>
__global__ void count(unsigned long long* out) {
    extern __shared__ int words[];
    words[threadIdx.x] = N;
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = words[31] + (1ull << 40);
}

int main() {
    int* memory;
    unsigned long long* big;
    const int two[2] = {5, 7};
    HANDLE_ERROR(cudaMalloc(&memory, 16 * sizeof(int)));
    HANDLE_ERROR(cudaMalloc(&big, 2 * sizeof *big));
    HANDLE_ERROR(cudaMemset(memory, 0, 16 * sizeof(int)));
    HANDLE_ERROR(cudaMemset(big, 0, 2 * sizeof *big));
    HANDLE_ERROR(cudaMemcpyToSymbol(offsets, two, sizeof two));
    const Box box{{1.5f, -2.25f}, memory + 3, 'x', 19, -9};
    fill<<<1, 32>>>(box, memory + 8, nullptr, -17, 1.0f / 3, 0.1, true, 200);
    count<32><<<2, 32, 32 * sizeof(int)>>>(big);
    int result[16];
    HANDLE_ERROR(cudaMemcpy(result, memory, sizeof result, cudaMemcpyDeviceToHost));
    std::printf("%d %d %d\n", result[3], result[8], result[9]);
    cudaFree(memory);
    cudaFree(big);
}
