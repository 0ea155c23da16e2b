// c = a * b, of 64 x 64 numbers; a block of 16 x 16 threads computes a tile of c.
__global__ void product(const float* a, const float* b, float* c) {
    const int x = blockIdx.x * 16 + threadIdx.x;
    const int y = blockIdx.y * 16 + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < 64; ++k) sum += a[y * 64 + k] * b[k * 64 + x];
    c[y * 64 + x] = sum;
}
