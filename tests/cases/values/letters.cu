// Correct: the counts have one element for each letter, and the text has letters only.
#include <cstring>
__global__ void count(const char* text, int n, int* counts)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n) atomicAdd(&counts[text[k] - 'a'], 1);
}
int main()
{
    const int n = 1000;
    char* h = new char[n];
    for (int i = 0; i < n; ++i) h[i] = 'a' + i % 26;
    char* text;
    int* counts;
    cudaMalloc(&text, n);
    cudaMalloc(&counts, 26 * sizeof(int));
    cudaMemset(counts, 0, 26 * sizeof(int));
    cudaMemcpy(text, h, n, cudaMemcpyHostToDevice);
    count<<<(n + 127) / 128, 128>>>(text, n, counts);
}
