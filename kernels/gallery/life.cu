// Conway's Game of Life, one cell per pixel, on a torus. The kernel reads the picture of the frame
// before. A live cell with 2 or 3 live neighbours lives on; a dead cell with 3 comes to life. New
// cells are white and turn green with age; dead cells leave a blue trace that fades. Press the
// mouse button to add cells.
//
// A block also needs the cells around its own: it loads 18x18 cells into a tile, each of them once.

using Pixel = unsigned;  // 4 bytes: red lowest, then green, blue and alpha

constexpr int side = 16;  // of a block
constexpr int wide = side + 2;

__device__ bool alive(Pixel pixel) {
    return (pixel >> 8 & 0xff) == 0xff;  // all of its green
}

__device__ unsigned hash(unsigned value) {
    value = (value ^ value >> 16) * 0x7feb352du;
    value = (value ^ value >> 15) * 0x846ca68bu;
    return value ^ value >> 16;
}

// The first cells: a disc that is symmetric in both directions, and stays so.
__device__ bool sown(int x, int y, int width, int height) {
    const int dx = abs(2 * x + 1 - width) / 2, dy = abs(2 * y + 1 - height) / 2;
    return dx * dx + dy * dy < height * height / 6 && hash(dy * 4096 + dx) % 3 == 0;
}

// The cell at (x, y) in the frame before; (x, y) may be one cell outside the picture. At the first
// frame all of `before` is 0.
__device__ Pixel cell(const Pixel* before, int x, int y, int width, int height) {
    x = (x + width) % width;
    y = (y + height) % height;
    const Pixel pixel = before[y * width + x];
    return pixel != 0 ? pixel : sown(x, y, width, height) ? 0xffffffffu : 0xff000000u;
}

extern "C" __global__ void life(Pixel* pixels, int width, int height, float time, float3 mouse,
                                const Pixel* before) {
    __shared__ Pixel tile[wide][wide];
    const int left = blockIdx.x * side - 1, top = blockIdx.y * side - 1;
    for (int i = threadIdx.y * side + threadIdx.x; i < wide * wide; i += side * side)
        tile[i / wide][i % wide] = cell(before, left + i % wide, top + i / wide, width, height);
    // Removes a read-after-write hazard: a thread reads neighbours that other threads loaded.
    __syncthreads();

    const int x = left + 1 + threadIdx.x, y = top + 1 + threadIdx.y;
    if (x >= width || y >= height) return;  // after the last barrier
    int neighbours = 0;
    for (int row = 0; row < 3; ++row)
        for (int column = 0; column < 3; ++column)
            neighbours += alive(tile[threadIdx.y + row][threadIdx.x + column]);
    const Pixel old = tile[threadIdx.y + 1][threadIdx.x + 1];
    neighbours -= alive(old);

    const int dx = x - __float2int_rd(mouse.x), dy = y - __float2int_rd(mouse.y);
    const int tick = __float2int_rn(60.0f * time);
    const bool sow = mouse.z > 0 && dx * dx + dy * dy < 100 && hash(y * 4096 + x + tick) % 3 == 0;
    const unsigned red = old & 0xff, green = old >> 8 & 0xff, blue = old >> 16 & 0xff;
    if (neighbours == 3 || sow || (neighbours == 2 && alive(old))) {
        const bool born = !alive(old);
        pixels[y * width + x] =
            born ? 0xffffffffu : 0xff00ff00u | (blue - blue / 8) << 16 | (red - red / 8);
    } else {
        pixels[y * width + x] = 0xff000000u | (blue - blue / 16) << 16 |
                                (green - (green + 7) / 8) << 8 | (red - (red + 1) / 2);
    }
}
