// FAULT: the second launch, in the method of a class, writes one element past the end.
struct Filter {
    float* data;
    int n;
    void run();
};
__global__ void clear(float* p, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n) p[k] = 0;
}
__global__ void raise(float* p, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k <= n) p[k] += 1;
}
int main()
{
    const int n = 512;
    float* data;
    cudaMalloc(&data, n * sizeof(float));
    clear<<<n / 256, 256>>>(data, n);
    for (int pass = 0; pass < 3; ++pass) raise<<<n / 256 + 1, 256>>>(data, n);
    cudaFree(data);
}
