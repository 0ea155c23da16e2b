// Correct: one kernel is launched with two sizes and two arrays of these sizes.
__global__ void fill(float* p, int n, float value)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n) p[k] = value;
}
int main()
{
    int m = 10, n = 1000;
    float *a, *b;
    cudaMalloc(&a, m * sizeof(float));
    cudaMalloc(&b, n * sizeof(float));
    fill<<<1, 32>>>(a, m, 1.5f);
    fill<<<(n + 31) / 32, 32>>>(b, n, 2.5f);
}
