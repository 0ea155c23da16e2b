// Correct: the size of the block chooses the instance of the template.
template <typename T, unsigned size>
__global__ void total(const T* in, T* out)
{
    __shared__ T s[size];
    s[threadIdx.x] = in[blockIdx.x * size + threadIdx.x];
    __syncthreads();
    for (unsigned step = size / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) s[threadIdx.x] += s[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}
template <typename T>
void run(T* in, T* out, int n, int threads)
{
    dim3 grid(n / threads, 1, 1), block(threads);
    switch (threads) {
        case 256: total<T, 256><<<grid, block>>>(in, out); break;
        case 128: total<T, 128><<<grid, block>>>(in, out); break;
        case 64: total<T, 64><<<grid, block>>>(in, out); break;
    }
}
int main()
{
    int n = 1024, threads = 128;
    long long *in, *out;
    cudaMalloc(&in, n * sizeof(long long));
    cudaMalloc(&out, n / threads * sizeof(long long));
    cudaMemset(in, 0, n * sizeof(long long));
    run<long long>(in, out, n, threads);
}
