// Each thread stores the number that stands 32 places before its own; the first 32 keep theirs.
__global__ void shift(const float* in, float* out) {
    __shared__ float tile[128];
    const int t = threadIdx.x, i = blockIdx.x * 128 + t;
    tile[t] = in[i];
    out[i] = t < 32 ? tile[t] : tile[t - 32];
}
