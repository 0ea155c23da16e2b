// Correct for double, whose buffer has 8 bytes an element; the launch names no type.
typedef double real;
template <typename T>
__global__ void half(T* p, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n) p[k] /= 2;
}
int main()
{
    int n = 300;
    real* p;
    cudaMallocManaged(&p, n * sizeof(real));
    for (int i = 0; i < n; i++) p[i] = i;
    half<<<2, 256>>>(p, n);
    cudaDeviceSynchronize();
}
