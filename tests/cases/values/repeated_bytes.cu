// cudaMemset() repeats a byte: each number is made of copies of it.
#include <cuda_runtime.h>

__global__ void check(const int* parents, const unsigned* masks, const short* levels,
                      const unsigned char* letters, const float* distances, const double* rates,
                      const long long* keys, int* wrong) {
    const int i = threadIdx.x;
    const bool right = parents[i] == -1 && masks[i] == 0x80808080u && levels[i] == 0x0707 &&
                       letters[i] == 'a' && distances[i] > 3.39e38f && distances[i] < 3.4e38f &&
                       rates[i] == 0.0 && keys[i] == 0x0101010101010101ll;
    wrong[i] = right ? 0 : 1 + i;
}

int main() {
    const int n = 32;
    int *parents, *wrong;
    unsigned* masks;
    short* levels;
    unsigned char* letters;
    float* distances;
    double* rates;
    long long* keys;
    cudaMalloc(&parents, n * sizeof(int));
    cudaMalloc(&wrong, n * sizeof(int));
    cudaMalloc(&masks, n * sizeof(unsigned));
    cudaMalloc(&levels, n * sizeof(short));
    cudaMalloc(&letters, n);
    cudaMalloc(&distances, n * sizeof(float));
    cudaMalloc(&rates, n * sizeof(double));
    cudaMalloc(&keys, n * sizeof(long long));
    cudaMemset(parents, -1, n * sizeof(int));
    cudaMemset(masks, 0x80, n * sizeof(unsigned));
    cudaMemset(levels, 7, n * sizeof(short));
    cudaMemset(letters, 'a', n);
    cudaMemset(distances, 0x7f, n * sizeof(float));
    cudaMemset(rates, 0, n * sizeof(double));
    cudaMemset(keys, 1, n * sizeof(long long));
    check<<<1, n>>>(parents, masks, levels, letters, distances, rates, keys, wrong);
    cudaDeviceSynchronize();
}
