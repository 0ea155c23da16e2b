// A transposition through a padded tile, in the style of NVIDIA's sample transpose.
#include <cstdio>

constexpr int TILE = 16, ROWS = 4;

__global__ void transpose(float* out, const float* in, int width, int height) {
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    const int index_in = x + y * width;
    float moved[TILE / ROWS];
    for (int i = 0; i < TILE; i += ROWS) {
        tile[threadIdx.y + i][threadIdx.x] = in[index_in + i * width];
        moved[i / ROWS] = in[index_in + i * width];
    }
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    const int index_out = x + y * height;
    const dim3 own(threadIdx.x, threadIdx.y);
    __syncthreads();
    const float(*row)[TILE + 1] = &tile[threadIdx.y];
    if (threadIdx.x == 2 && threadIdx.y == 1)
        printf("values: width=%d height=%d x=%d y=%d index_in=%d index_out=%d moved[0]=%f moved[3]=%f own.x=%u own.z=%u tile[2][1]=%f row[0][4]=%f in[7]=%f out[0]=%f\n",
               width, height, x, y, index_in, index_out, moved[0], moved[3], own.x, own.z, tile[2][1], row[0][4], in[7], out[0]);
    for (int i = 0; i < TILE; i += ROWS) out[index_out + i * height] = tile[threadIdx.x][threadIdx.y + i];
}

int main() {
    float host[TILE * TILE], *in, *out;
    for (int k = 0; k < TILE * TILE; ++k) host[k] = 1.5F * k;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMemset(out, 0, sizeof host);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    transpose<<<1, dim3(TILE, ROWS)>>>(out, in, TILE, TILE);
    return cudaDeviceSynchronize();
}
