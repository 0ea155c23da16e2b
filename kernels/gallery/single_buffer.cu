// RACY ON PURPOSE: double_buffer.cu with one tile. There is no barrier between reading a pixel and
// writing one, so a warp may overwrite a pixel that another warp still has to read. The picture
// should be whole; the race tears it. A second barrier in each step would remove the race, and so
// would a second tile.

using Pixel = unsigned;  // 4 bytes: red lowest, then green, blue and alpha

constexpr int side = 16;  // of a block, and of its tile

// From 0 to 255 and back in 256 steps, like a sine. It uses integers only, so every device computes
// the same values.
__device__ int wave(int angle) {
    const int up = angle & 128 ? 127 - (angle & 127) : angle & 127;
    return up * up * (384 - 2 * up) >> 13;
}

// The picture: hills in terraces.
__device__ Pixel source(int x, int y, int tick) {
    const int ground = wave(x + tick) + wave(2 * y - tick) + wave((x + y) / 2 + 2 * tick);
    const int terrace = ground / 48, slope = ground % 48;  // 0 .. 15, 0 .. 47
    const int red = wave(terrace * 9 + 20), green = wave(terrace * 7 + 230);
    const int light = 160 + 2 * slope;
    return 0xff000000u | (red / 2 + 60) * light >> 8 << 16 | (green * light >> 8) << 8 |
           red * light >> 8;
}

// The picture as it must become, without shared memory. The launch file compares with it.
extern "C" __global__ void whole(Pixel* expected, int width, int height, float time) {
    const int x = blockIdx.x * side + threadIdx.x;
    const int y = blockIdx.y * side + threadIdx.y;
    const int tick = __float2int_rn(60.0f * time);
    if (x < width && y < height) expected[y * width + x] = source(x, y, tick);
}

extern "C" __global__ void single_buffer(Pixel* pixels, int width, int height, float time) {
    __shared__ Pixel tile[side][side];
    const int x = blockIdx.x * side + threadIdx.x;
    const int y = blockIdx.y * side + threadIdx.y;
    const int above = (threadIdx.y + side - 1) % side;

    tile[threadIdx.y][threadIdx.x] = source(x, y, __float2int_rn(60.0f * time));
    // Removes a read-after-write hazard: the first step reads pixels that other threads wrote.
    __syncthreads();
    for (int step = 0; step < side; ++step) {
        const Pixel pixel = tile[above][threadIdx.x];
        // MISSING: this barrier would remove a write-after-read hazard. No thread may write its
        // pixel before the thread below has read it.
        // __syncthreads();
        tile[threadIdx.y][threadIdx.x] = pixel;
        // Removes a read-after-write hazard: the next step reads what other threads write here.
        __syncthreads();
    }
    if (x < width && y < height) pixels[y * width + x] = tile[threadIdx.y][threadIdx.x];
}
