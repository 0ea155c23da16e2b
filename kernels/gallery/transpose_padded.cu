// The transpose of transpose.cu with one word more in each row of the tile. It is never used, but
// it moves each row one bank on: a column of 32 words now lies in 32 banks, and a warp reads it in
// one go. The picture is the same, to the pixel; the bank conflicts are gone from the counters.

using Pixel = unsigned;  // bytes r, g, b, a

constexpr int side = 32;  // of a tile: four blocks' pixels, which one block moves
constexpr int warps = 8;

// 0 .. 255 and back in 256 steps: a sine in whole numbers, the same on every device.
__device__ int wave(int angle) {
    const int up = angle & 128 ? 127 - (angle & 127) : angle & 127;
    return up * up * (384 - 2 * up) >> 13;
}

// The picture to transpose: along each track of 16 rows runs a light with a tail.
__device__ Pixel source(int x, int y, int tick) {
    const int track = y / 16, across = y % 16;
    const int tail = (x - tick * (2 + track * 5 % 4) + track * 89) & 255;
    const int light = (48 + (tail * tail >> 8)) * (across * (15 - across) + 8) >> 6;
    const int red = wave(track * 11) * light >> 8;
    const int green = wave(track * 11 + 85) * light >> 8;
    const int blue = wave(track * 11 + 170) * light >> 8;
    return 0xff000000u | min(blue, 255) << 16 | min(green, 255) << 8 | min(red, 255);
}

extern "C" __global__ void scratch(Pixel* pixels, int width, int height, float time, float3) {
    __shared__ Pixel tile[side][side + 1];
    // Whole blocks leave, so no barrier is left waiting: one of four has work, for all four.
    if (blockIdx.x % 2 != 0 || blockIdx.y % 2 != 0) return;
    const int tick = __float2int_rn(60.0f * time);
    const int thread = threadIdx.y * blockDim.x + threadIdx.x;
    const int lane = thread % 32, warp = thread / 32;
    const int left = blockIdx.x * blockDim.x, top = blockIdx.y * blockDim.y;

    // Rows of the source's tile at the mirrored place. A row of words: 32 banks, no conflict.
    for (int row = warp; row < side; row += warps)
        tile[row][lane] = source(top + lane, left + row, tick);
    // Read after write: a column was written by all eight warps.
    __syncthreads();
    for (int row = warp; row < side; row += warps) {
        const int x = left + lane, y = top + row;
        // tile[0][row], tile[1][row], ... are 33 words apart: each in the bank after.
        const Pixel turned = tile[lane][row];
        if (x < width && y < height) pixels[y * width + x] = x > y ? turned : source(x, y, tick);
    }
}
