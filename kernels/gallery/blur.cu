// A stencil with a halo: left of the mouse the picture as it is, right of it each pixel is the mean
// of the 9x9 around it. Computed alone, a pixel would ask for 81 others; a block shares them in a
// tile that is wider than itself by the stencil's radius on every side, the halo. And since the
// mean of a square is the mean of its rows' means, 9 + 9 additions do for 81.

using Pixel = unsigned;  // bytes r, g, b, a

constexpr int side = 16;  // of a block
constexpr int radius = 4;
constexpr int wide = side + 2 * radius;
constexpr int count = (2 * radius + 1) * (2 * radius + 1);

// 0 .. 255 and back in 256 steps: a sine in whole numbers, the same on every device.
__device__ int wave(int angle) {
    const int up = angle & 128 ? 127 - (angle & 127) : angle & 127;
    return up * up * (384 - 2 * up) >> 13;
}

// The sharp picture: discs that breathe.
__device__ Pixel source(int x, int y, int tick) {
    const int column = x >> 5, row = y >> 5;
    const int dx = (x & 31) * 2 - 31, dy = (y & 31) * 2 - 31;
    const int angle = 9 * column + 13 * row;
    const int reach = 64 + 3 * wave(tick * 2 + 16 * column + 24 * row);
    if (dx * dx + dy * dy > reach) return (column + row) & 1 ? 0xff302010u : 0xff20140cu;
    return 0xff000000u | wave(angle + 170) << 16 | wave(angle + 85) << 8 | wave(angle);
}

// Red and blue in the halves of one word, and green: they add up side by side.
struct Sums {
    unsigned red_blue, green;
};

__device__ void add(Sums& sums, const Sums& more) {
    sums.red_blue += more.red_blue;
    sums.green += more.green;
}

extern "C" __global__ void scratch(Pixel* pixels, int width, int height, float time, float3 mouse) {
    __shared__ Pixel tile[wide][wide];  // the block's pixels and the halo
    __shared__ Sums sums[wide][side];   // of 9 in a row, where the block has columns
    const int tick = __float2int_rn(60.0f * time);
    const int left = blockIdx.x * side - radius, top = blockIdx.y * side - radius;
    const int thread = threadIdx.y * side + threadIdx.x;

    // 256 threads fetch 24x24 pixels. All take part in all of it, also those outside the picture.
    for (int i = thread; i < wide * wide; i += side * side)
        tile[i / wide][i % wide] = source(left + i % wide, top + i / wide, tick);
    // Read after write: a row's neighbours were fetched by other threads.
    __syncthreads();
    for (int i = thread; i < wide * side; i += side * side) {
        Sums sum = {};
        for (int k = 0; k <= 2 * radius; ++k) {
            const Pixel pixel = tile[i / side][i % side + k];
            add(sum, {pixel & 0xff00ffu, pixel >> 8 & 0xffu});
        }
        sums[i / side][i % side] = sum;
    }
    // Read after write: a column's sums are those of other threads.
    __syncthreads();
    Sums sum = {};
    for (int k = 0; k <= 2 * radius; ++k) add(sum, sums[threadIdx.y + k][threadIdx.x]);

    const int x = left + radius + threadIdx.x, y = top + radius + threadIdx.y;
    if (x >= width || y >= height) return;  // after the last barrier
    const Pixel mean = 0xff000000u | (sum.red_blue >> 16) / count << 16 | sum.green / count << 8 |
                       (sum.red_blue & 0xffffu) / count;
    const int edge = __float2int_rd(mouse.x);
    const Pixel sharp = tile[threadIdx.y + radius][threadIdx.x + radius];
    pixels[y * width + x] = x == edge ? 0xffffffffu : x < edge ? sharp : mean;
}
