// Correct. One function allocates, another one launches with the names of its own parameters.
#include <vector>
__global__ void shift(const float* in, float* out, int count)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < count) out[k] = in[k + 1];
}
float* allocate(int n) { float* p; cudaMalloc(&p, n * sizeof(float)); return p; }
void reserve(float** p, int n) { cudaMalloc((void**)p, n * sizeof(float)); }
void run(float* from, float* to, int n, int threads = 64)
{
    int blocks = (n + threads - 1) / threads;
    shift<<<blocks, threads>>>(from, to, n);
}
int main()
{
    int n = 700;
    std::vector<float> h(n + 1);
    for (int i = 0; i < n + 1; ++i) h[i] = i;
    float *a, *b;
    reserve(&a, n + 1);
    reserve(&b, n);
    cudaMemcpy(a, h.data(), (n + 1) * sizeof(float), cudaMemcpyHostToDevice);
    run(a, b, n);
}
