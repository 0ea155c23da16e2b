// Variables of the device get their numbers from the host. EXTRA: so many threads are too many.
#ifndef EXTRA
#define EXTRA 0
#endif
__device__ int count;
__managed__ int last;
__constant__ int first;

__global__ void reverse(const int* in, int* out) {
    const int i = threadIdx.x + first;
    if (i < count + EXTRA) out[last - i] = in[i];
}

int main() {
    const int n = 32, zero = 0;
    int *a, *o;
    cudaMalloc(&a, n * sizeof(int));
    cudaMalloc(&o, n * sizeof(int));
    cudaMemset(a, 0, n * sizeof(int));
    cudaMemcpyToSymbol(count, &n, sizeof n);
    cudaMemcpyToSymbol(first, &zero, sizeof zero);
    last = n - 1;
    reverse<<<1, 64>>>(a, o);
    cudaDeviceSynchronize();
}
