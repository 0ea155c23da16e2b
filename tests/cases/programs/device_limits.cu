// The grid has two blocks for each multiprocessor. A barrier is missing in the loop.
__global__ void sum(const int* x, int* total, int n) {
    __shared__ int part[128];
    int mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        mine += x[i];
    part[threadIdx.x] = mine;
    __syncthreads();
    for (int d = 64; d > 0; d /= 2)
        if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
    if (threadIdx.x == 0) atomicAdd(total, part[0]);
}

int main() {
    int n = 10000, *x, *total;
    cudaDeviceProp device;
    cudaGetDeviceProperties(&device, 0);
    cudaMallocManaged(&x, n * sizeof(int));
    cudaMallocManaged(&total, sizeof(int));
    for (int i = 0; i < n; ++i) x[i] = 1;
    *total = 0;
    sum<<<2 * device.multiProcessorCount, 128>>>(x, total, n);
}
