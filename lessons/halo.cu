// out[i] = in[i - 1] + in[i] + in[i + 1]
// Beyond the ends the numbers count as 0.
__global__ void blur(const float* in, float* out, int n) {
    __shared__ float tile[66];  // 64 numbers and the halo
    const int i = blockIdx.x * 64 + threadIdx.x, t = threadIdx.x + 1;
    tile[t] = in[i];
    if (t == 1) tile[0] = i > 0 ? in[i - 1] : 0;
    __syncthreads();
    out[i] = tile[t - 1] + tile[t] + tile[t + 1];
}
