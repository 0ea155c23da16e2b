// Correct for one block with two dimensions.
__global__ void rows(float* p)
{
    p[threadIdx.y * blockDim.x + threadIdx.x] = threadIdx.y;
}
