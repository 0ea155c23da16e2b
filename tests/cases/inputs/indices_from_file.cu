// The indices come from a function, which stands for one that reads a file.
__global__ void gather(const int* index, const float* in, float* out, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n) out[k] = in[index[k]];
}
void read(int* to, int n) { for (int i = 0; i < n; ++i) to[i] = i * 7 % 16; }
int main()
{
    const int n = 40;
    int host[n], *index;
    float *in, *out;
    read(host, n);
    cudaMalloc(&index, sizeof(host[0]) * n);
    cudaMalloc(&in, 16 * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    cudaMemset(in, 0, 16 * sizeof(float));
    cudaMemcpy(index, host, n * sizeof(int), cudaMemcpyHostToDevice);
    gather<<<1, 64>>>(index, in, out, n);
}
