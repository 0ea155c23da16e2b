// Correct: a ring. What the host writes into `next` is an index below n.
#include <vector>
__global__ void pull(const int* next, const float* in, float* out, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n) out[k] = in[next[k]];
}
int main()
{
    int n = 90;
    std::vector<int> next(n);
    for (int i = 0; i < n; i++) next[i] = (i + 1) % n;
    int* d_next;
    float *d_in, *d_out;
    cudaMalloc(&d_next, next.size() * sizeof(int));
    cudaMalloc(&d_in, sizeof(float) * n);
    cudaMalloc(&d_out, sizeof(float) * n);
    cudaMemcpy(d_next, next.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(d_in, 0, sizeof(float) * n);
    pull<<<(n + 31) / 32, 32>>>(d_next, d_in, d_out, n);
}
