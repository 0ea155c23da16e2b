// Variables of the device get their numbers from the host. With an argument, one thread is too many.
__device__ int count;
__managed__ int last;
__constant__ int first;

__global__ void reverse(const int* in, int* out, int extra) {
    const int i = threadIdx.x + first;
    if (i < count + extra) out[last - i] = in[i];
}

int main(int argc, char**) {
    const int n = 32, zero = 0;
    int *a, *o;
    cudaMalloc(&a, n * sizeof(int));
    cudaMalloc(&o, n * sizeof(int));
    cudaMemset(a, 0, n * sizeof(int));
    cudaMemcpyToSymbol(count, &n, sizeof n);
    cudaMemcpyToSymbol(first, &zero, sizeof zero);
    last = n - 1;
    reverse<<<1, 64>>>(a, o, argc - 1);
    cudaDeviceSynchronize();
}
