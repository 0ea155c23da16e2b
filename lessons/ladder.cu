// A block adds up 256 numbers.
__global__ void sum(const float* in, float* out) {
    __shared__ float partial[256];
    const int t = threadIdx.x;
    partial[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (int stride = 1; stride < 256; stride *= 2) {
        if (t % (2 * stride) == 0) partial[t] += partial[t + stride];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = partial[0];
}
