// Transposes 64 x 64 numbers, a tile of 32 x 32 in each block.
__global__ void transpose(const float* in, float* out) {
    __shared__ float tile[32][32];
    const int left = blockIdx.x * 32, top = blockIdx.y * 32;
    for (int row = threadIdx.y; row < 32; row += 8)
        tile[row][threadIdx.x] = in[(top + row) * 64 + left + threadIdx.x];
    __syncthreads();
    for (int row = threadIdx.y; row < 32; row += 8)
        out[(left + row) * 64 + top + threadIdx.x] = tile[threadIdx.x][row];
}
