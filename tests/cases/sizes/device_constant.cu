// FAULT: nobody writes `in`, which the kernel reads from its end.
#define COUNT 6000
__global__ void sum(const float* in, float* out, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n) out[k] = in[COUNT - 1 - k];
}
int main()
{
    float *in, *out;
    cudaMalloc(&in, COUNT * sizeof(float));
    cudaMalloc(&out, COUNT * sizeof(float));
    sum<<<(COUNT + 255) / 256, 256>>>(in, out, COUNT);
}
