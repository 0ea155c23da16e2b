// Sizes and a class stand in a header. The last row of colours is behind the image.
#include "sizes.h"

__global__ void paint(unsigned char* image, int columns, int rows) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < columns && y <= rows) image[(y * columns + x) * 3] = x + y;
}

int main() {
    Image image(COLUMNS, ROWS);
    dim3 block(8, 8), grid((COLUMNS + block.x - 1) / block.x, ROWS / block.y + 1);
    paint<<<grid, block>>>(image.get_pixels(), COLUMNS, ROWS);
    CHECK(cudaDeviceSynchronize());
}
