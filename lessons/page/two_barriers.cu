// The force on each of 256 bodies on a line.
// Each body pulls as a spring does.
__global__ void forces(const float* x, float* force) {
    __shared__ float tile[64];
    const float own = x[blockIdx.x * 64 + threadIdx.x];
    float sum = 0;
    /*__syncthreads()*/;
    for (int first = 0; first < 256; first += 64) {
        tile[threadIdx.x] = x[first + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 64; ++k) sum += tile[k] - own;
        /*__syncthreads()*/;
    }
    /*__syncthreads()*/;
    force[blockIdx.x * 64 + threadIdx.x] = sum;
}
