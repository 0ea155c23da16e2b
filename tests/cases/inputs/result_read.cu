// The kernel reads two arrays that nobody has written.
__global__ void accumulate(const float* in, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] += 2 * in[i];
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 100 * sizeof(float));
    cudaMalloc(&out, 100 * sizeof(float));
    accumulate<<<1, 128>>>(in, out, 100);
    cudaDeviceSynchronize();
}
