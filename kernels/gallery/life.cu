// Conway's Game of Life, one cell a pixel, on a torus: a kernel that goes on from the frame before.
// A live cell stays with 2 or 3 live neighbours, a dead one comes to life with 3. Cells are born
// white and turn green with age; where one has died, a blue trace fades. Press the mouse to sow.
//
// A block needs a ring of cells around its own: 18x18 words are fetched once, not 9 times.

using Pixel = unsigned;  // bytes r, g, b, a

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

// The first cells: a disc that is the same in all four quarters, and so is what becomes of it.
__device__ bool sown(int x, int y, int width, int height) {
    const int dx = abs(2 * x + 1 - width) / 2, dy = abs(2 * y + 1 - height) / 2;
    return dx * dx + dy * dy < height * height / 6 && hash(dy * 4096 + dx) % 3 == 0;
}

// What the frame before has at (x, y), which may be one cell outside; nothing yet is zero.
__device__ Pixel cell(const Pixel* before, int x, int y, int width, int height) {
    x = (x + width) % width;
    y = (y + height) % height;
    const Pixel pixel = before[y * width + x];
    return pixel != 0 ? pixel : sown(x, y, width, height) ? 0xffffffffu : 0xff000000u;
}

extern "C" __global__ void scratch(Pixel* pixels, int width, int height, float time, float3 mouse,
                                   const Pixel* before) {
    __shared__ Pixel tile[wide][wide];
    const int left = blockIdx.x * side - 1, top = blockIdx.y * side - 1;
    for (int i = threadIdx.y * side + threadIdx.x; i < wide * wide; i += side * side)
        tile[i / wide][i % wide] = cell(before, left + i % wide, top + i / wide, width, height);
    // Read after write: a cell's neighbours were fetched by other threads.
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
