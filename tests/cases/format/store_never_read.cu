__global__ void store_never_read(int* out) {
    __shared__ int last;
    last = threadIdx.x;  // 64 threads, 64 values; the compiler removes this store
    out[threadIdx.x] = threadIdx.x;
}
