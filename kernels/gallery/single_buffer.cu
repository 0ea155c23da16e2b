// RACY ON PURPOSE: double_buffer.cu with one tile. Between reading a pixel and writing one there is
// no barrier, so a warp may write over what another warp has yet to read. The picture should be
// whole; what is torn is the race. Two barriers a step would cure it, or the second tile.

using Pixel = unsigned;  // bytes r, g, b, a

constexpr int side = 16;  // of a block, and of its tile

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
    __shared__ Pixel tile[side][side];
    const int x = blockIdx.x * side + threadIdx.x;
    const int y = blockIdx.y * side + threadIdx.y;
    const int above = (threadIdx.y + side - 1) % side;

    tile[threadIdx.y][threadIdx.x] = source(x, y, __float2int_rn(60.0f * time));
    // Read after write: the first step reads other threads' pixels.
    __syncthreads();
    for (int step = 0; step < side; ++step) {
        const Pixel pixel = tile[above][threadIdx.x];
        // MISSING, write after read: the thread above must not write before its pixel is read.
        // __syncthreads();
        tile[threadIdx.y][threadIdx.x] = pixel;
        // Read after write: the next step reads what is written here.
        __syncthreads();
    }
    if (x < width && y < height) pixels[y * width + x] = tile[threadIdx.y][threadIdx.x];
}
