// Two tiles and one barrier a step. In each step every thread takes the pixel above its own; after
// 16 steps a block's pixels have gone all the way round and are home again: the picture is whole.
// A step reads one tile and writes the other, so that nobody writes what somebody still reads.
// single_buffer.cu is the same with one tile, and goes wrong.

using Pixel = unsigned;  // bytes r, g, b, a

constexpr int side = 16;  // of a block, and of its tiles

// 0 .. 255 and back in 256 steps: a sine in whole numbers, the same on every device.
__device__ int wave(int angle) {
    const int up = angle & 128 ? 127 - (angle & 127) : angle & 127;
    return up * up * (384 - 2 * up) >> 13;
}

// Hills and valleys, in terraces.
__device__ Pixel source(int x, int y, int tick) {
    const int ground = wave(x + tick) + wave(2 * y - tick) + wave((x + y) / 2 + 2 * tick);
    const int terrace = ground / 48, slope = ground % 48;  // 0 .. 15, 0 .. 47
    const int red = wave(terrace * 9 + 20), green = wave(terrace * 7 + 230);
    const int light = 160 + 2 * slope;
    return 0xff000000u | (red / 2 + 60) * light >> 8 << 16 | (green * light >> 8) << 8 |
           red * light >> 8;
}

extern "C" __global__ void scratch(Pixel* pixels, int width, int height, float time, float3) {
    __shared__ Pixel tiles[2][side][side];
    const int x = blockIdx.x * side + threadIdx.x;
    const int y = blockIdx.y * side + threadIdx.y;
    const int above = (threadIdx.y + side - 1) % side;

    tiles[0][threadIdx.y][threadIdx.x] = source(x, y, __float2int_rn(60.0f * time));
    // Read after write: the first step reads other threads' pixels.
    __syncthreads();
    int now = 0;  // the tile to read
    for (int step = 0; step < side; ++step) {
        tiles[1 - now][threadIdx.y][threadIdx.x] = tiles[now][above][threadIdx.x];
        // Read after write: the next step reads what is written here. Write after read: it writes
        // what is read here. One barrier is for both, as there are two tiles.
        __syncthreads();
        now = 1 - now;
    }
    if (x < width && y < height) pixels[y * width + x] = tiles[now][threadIdx.y][threadIdx.x];
}
