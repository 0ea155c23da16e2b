// More than 48 KiB of dynamic shared memory need cudaFuncSetAttribute(): the launch fails.
extern __shared__ float tile[];

__global__ void reverse(float* x) {
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

int main() {
    float* x;
    cudaMalloc(&x, 256 * sizeof(float));
    cudaMemset(x, 0, 256 * sizeof(float));
    reverse<<<1, 256, 64 * 1024>>>(x);
    cudaDeviceSynchronize();
}
