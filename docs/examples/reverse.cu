// nvcc -ptx -lineinfo reverse.cu makes reverse.ptx.
extern "C" __global__ void reverse(const float* in, float* out) {
    __shared__ float tile[64];
    tile[threadIdx.x] = in[threadIdx.x];
    out[threadIdx.x] = tile[63 - threadIdx.x];  // a barrier is missing before this line
}
