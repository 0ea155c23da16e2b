// Keeps odd numbers behind three places that stay free. Both counters must begin anew for each frame.
__device__ int first_free = 3;

__global__ void keep_odd(const int* in, int* kept, int* used, int n) {
    static unsigned finished = 0;  // blocks
    const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n && in[i] % 2) kept[atomicAdd(&first_free, 1)] = in[i];
    __syncthreads();
    if (threadIdx.x > 0) return;
    __threadfence();
    if (atomicAdd(&finished, 1) == gridDim.x - 1) *used = atomicAdd(&first_free, 0);
}
