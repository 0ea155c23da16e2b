// A stencil with a halo. Left of the mouse the picture is sharp; right of it each pixel is the mean
// of the 9x9 pixels around it. A block computes the pixels that it needs once and shares them in a
// tile. On each side the tile is wider than the block by the radius of the stencil: this is the
// halo. The mean of a square is the mean of the means of its rows, so 9 + 9 additions are enough
// instead of 81.

using Pixel = unsigned;  // 4 bytes: red lowest, then green, blue and alpha

constexpr int side = 16;  // of a block
constexpr int radius = 4;
constexpr int wide = side + 2 * radius;
constexpr int count = (2 * radius + 1) * (2 * radius + 1);

// From 0 to 255 and back in 256 steps, like a sine. It uses integers only, so every device computes
// the same values.
__device__ int wave(int angle) {
    const int up = angle & 128 ? 127 - (angle & 127) : angle & 127;
    return up * up * (384 - 2 * up) >> 13;
}

// The sharp picture: discs that grow and shrink.
__device__ Pixel source(int x, int y, int tick) {
    const int column = x >> 5, row = y >> 5;
    const int dx = (x & 31) * 2 - 31, dy = (y & 31) * 2 - 31;
    const int angle = 9 * column + 13 * row;
    const int reach = 64 + 3 * wave(tick * 2 + 16 * column + 24 * row);
    if (dx * dx + dy * dy > reach) return (column + row) & 1 ? 0xff302010u : 0xff20140cu;
    return 0xff000000u | wave(angle + 170) << 16 | wave(angle + 85) << 8 | wave(angle);
}

// Sums of colours. Red and blue share one word, 16 bits each, and are added together.
struct Sums {
    unsigned red_blue, green;
};

__device__ void add(Sums& sums, const Sums& more) {
    sums.red_blue += more.red_blue;
    sums.green += more.green;
}

extern "C" __global__ void blur(Pixel* pixels, int width, int height, float time, float3 mouse) {
    __shared__ Pixel tile[wide][wide];  // the block's pixels and the halo
    __shared__ Sums sums[wide][side];   // of 9 pixels of a row each
    const int tick = __float2int_rn(60.0f * time);
    const int left = blockIdx.x * side - radius, top = blockIdx.y * side - radius;
    const int thread = threadIdx.y * side + threadIdx.x;

    // 256 threads fill a tile of 24x24 pixels. Threads outside the picture take part as well.
    for (int i = thread; i < wide * wide; i += side * side)
        tile[i / wide][i % wide] = source(left + i % wide, top + i / wide, tick);
    // Removes a read-after-write hazard: the sums below read pixels that other threads wrote.
    __syncthreads();
    for (int i = thread; i < wide * side; i += side * side) {
        Sums sum = {};
        for (int k = 0; k <= 2 * radius; ++k) {
            const Pixel pixel = tile[i / side][i % side + k];
            add(sum, {pixel & 0xff00ffu, pixel >> 8 & 0xffu});
        }
        sums[i / side][i % side] = sum;
    }
    // Removes a read-after-write hazard: a thread reads the sums of a column, which other threads
    // wrote.
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
