// FAULT: a barrier is missing. The file has no host program, so the block is a guess.
__global__ void turn(float* a)
{
    __shared__ float s[256];
    s[threadIdx.x] = a[blockIdx.x * 256 + threadIdx.x];
    a[blockIdx.x * 256 + threadIdx.x] = s[255 - threadIdx.x];
}
