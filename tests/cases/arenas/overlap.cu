// The second array begins a byte offset too early: the offset counts floats, not bytes.
__global__ void next(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[(i + 1) % n];
}

int main() {
    char* base;
    cudaMalloc(&base, 400 * sizeof(float));
    cudaMemset(base, 0, 400 * sizeof(float));
    float* in = reinterpret_cast<float*>(base);
    float* out = reinterpret_cast<float*>(base + 200);
    next<<<4, 64>>>(in, out, 200);
}
