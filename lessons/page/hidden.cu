// Each thread stores the number 32 places before its own.
// The first 32 threads of a block keep theirs.
__global__ void shift(const float* in, float* out) {
    __shared__ float tile[128];
    const int t = threadIdx.x, i = blockIdx.x * 128 + t;
    /*__syncthreads()*/;
    tile[t] = in[i];
    /*__syncthreads()*/;
    out[i] = t < 32 ? tile[t] : tile[t - 32];
    /*__syncthreads()*/;
}
