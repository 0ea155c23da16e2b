// Reverses the 64 numbers of a block, doubles them,
// and exchanges the two halves.
__global__ void exchange(const float* in, float* out) {
    __shared__ float reversed[64], doubled[64];
    const int t = threadIdx.x, i = blockIdx.x * 64 + t;
    reversed[63 - t] = in[i];
    __syncthreads();
    const float value = reversed[t];
    __syncthreads();
    doubled[t] = 2 * value;
    __syncthreads();
    const float other = doubled[(t + 32) % 64];
    __syncthreads();
    out[i] = other;
}
