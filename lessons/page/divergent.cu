// A block adds up 256 numbers.
__global__ void sum(const float* in, float* out) {
    __shared__ float partial[256];
    const int t = threadIdx.x;
    partial[t] = in[blockIdx.x * 256 + t];
    for (int half = 128; half > 0; half /= 2) {
        /*__syncthreads()*/;
        if (t < half) {
            __syncthreads();
            partial[t] += partial[t + half];
        }
    }
    /*__syncthreads()*/;
    if (t == 0) out[blockIdx.x] = partial[0];
}
