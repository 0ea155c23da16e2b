// Launches by functions of the runtime, with arrays of pointers to the arguments.
template <typename T>
__global__ void raise(const T* a, T* b, int n) {
    extern __shared__ int held[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    held[threadIdx.x] = i < n ? a[i] : 0;
    __syncthreads();
    if (i < n) b[i] = held[threadIdx.x] + 1;
}

__global__ void lower(int* b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] -= i < n ? 2 : 1;
}

int main() {
    int n = 500, *a, *b;
    cudaMalloc(&a, n * sizeof(int));
    cudaMalloc(&b, n * sizeof(int));
    cudaMemset(a, 0, n * sizeof(int));
    dim3 grid((n + 127) / 128), block(128);
    void* arguments[] = {&a, &b, &n};
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaLaunchKernel((void*)raise<int>, grid, block, arguments, 128 * sizeof(int), stream);
    void* others[2];
    others[0] = (void*)&b;
    others[1] = (void*)&n;
    cudaLaunchCooperativeKernel((const void*)lower, dim3(4), dim3(128), others, 0, stream);
}
