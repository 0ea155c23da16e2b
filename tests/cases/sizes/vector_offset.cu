// A vector of Thrust from its third element on.
#include <thrust/device_vector.h>
__global__ void spread(const int* in, int* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i - 2] + in[i + 2];
}
int main()
{
    const int n = 512;
    thrust::device_vector<int> in(n + 4), out(n);
    spread<<<n / 64, 64>>>(thrust::raw_pointer_cast(in.data()) + 2, thrust::raw_pointer_cast(&out[0]));
    cudaDeviceSynchronize();
}
