// Correct: the launch says the bytes of shared memory with sizeof(T).
template <typename T>
__global__ void reverse(T* p)
{
    extern __shared__ double memory[];
    T* s = (T*)memory;
    s[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
template <typename T>
void run(int n)
{
    T* p;
    cudaMalloc(&p, n * sizeof(T));
    cudaMemset(p, 0, n * sizeof(T));
    const size_t shared = sizeof(T) * (n + 2) - 2 * sizeof(T);
    reverse<T><<<1, n, shared>>>(p);
}
int main() { run<double>(96); run<float>(64); }
