// FAULT: as in fixed_beside_grid.cu, with 65536 blocks.
__global__ void sums(const float* in, float* out, int n) {
    __shared__ float all;
    if (threadIdx.x == 0) all = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&all, in[i]);
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = all;
}

int main() {
    int n = 1 << 24;
    float *in, *out;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, 512 * sizeof(float));
    cudaMemset(in, 0, n * sizeof(float));
    sums<<<(n + 255) / 256, 256>>>(in, out, n);
}
