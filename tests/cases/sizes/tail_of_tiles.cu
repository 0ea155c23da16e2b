// FAULT: the last tile has 5000 % 96 elements, but the loop adds 96.
const int tile = 96;
__global__ void sums(const float* in, float* out, int n)
{
    __shared__ float s[tile];
    float sum = 0;
    for (int t = 0; t < (n + tile - 1) / tile; ++t) {
        s[threadIdx.x] = in[t * tile + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < tile; ++k) sum += s[k];
        __syncthreads();
    }
    int i = blockIdx.x * tile + threadIdx.x;
    if (i < n) out[i] = sum;
}
int main()
{
    int size = 5000;
    size_t bytes = sizeof(float) * size;
    float *in = nullptr, *out = nullptr;
    cudaMalloc(&in, bytes);
    cudaMalloc(&out, bytes);
    sums<<<(size + tile - 1) / tile, tile>>>(in, out, size);
}
