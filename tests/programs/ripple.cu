// A picture whose tiles are turned by 180 degrees in shared memory. NO_BARRIER leaves out the barrier
// between writing and reading.
#include "book.h"

constexpr int size = 256;

__global__ void kernel(unsigned char* picture) {
    const int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
    const int offset = x + y * blockDim.x * gridDim.x;
    __shared__ float tile[16][16];
    const float period = 128.0f;
    tile[threadIdx.x][threadIdx.y] = 255 * (sinf(x * 2.0f * 3.14159265f / period) + 1.0f) *
                                     (sinf(y * 2.0f * 3.14159265f / period) + 1.0f) / 4.0f;
#ifndef NO_BARRIER
    __syncthreads();
#endif
    picture[offset * 4 + 0] = 0;
    picture[offset * 4 + 1] = tile[15 - threadIdx.x][15 - threadIdx.y];
    picture[offset * 4 + 2] = 0;
    picture[offset * 4 + 3] = 255;
}

int main() {
    CPUBitmap bitmap(size, size);
    unsigned char* dev_bitmap;
    HANDLE_ERROR(cudaMalloc((void**)&dev_bitmap, bitmap.image_size()));
    kernel<<<dim3(size / 16, size / 16), dim3(16, 16)>>>(dev_bitmap);
    HANDLE_ERROR(
        cudaMemcpy(bitmap.get_ptr(), dev_bitmap, bitmap.image_size(), cudaMemcpyDeviceToHost));
    cudaFree(dev_bitmap);
    bitmap.display_and_exit();
}
