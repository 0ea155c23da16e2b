// FAULT: nobody writes the array that is read first. The two arrays change their places.
#include <utility>
__global__ void next(const int* from, int* to, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n) to[k] = from[k] + from[(k + 1) % n];
}
int main()
{
    const int n = 128;
    int *a, *b;
    cudaMalloc(&a, n * 4);
    cudaMalloc(&b, n * 4);
    for (int step = 0; step < 10; ++step) {
        next<<<n / 64, 64>>>(a, b, n);
        std::swap(a, b);
    }
    next<<<n / 64, 64>>>(a, b, n);
}
