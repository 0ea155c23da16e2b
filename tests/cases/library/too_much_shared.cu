// FAULT: no block can have 4 MiB of shared memory.
__global__ void large(int* p)
{
    __shared__ int s[1 << 20];
    s[threadIdx.x * 8] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = s[threadIdx.x ^ 8];
}
int main() { int* p; cudaMalloc(&p, 256); large<<<1, 64>>>(p); }
