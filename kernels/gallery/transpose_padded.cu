// The transpose of transpose.cu with one more word in each row of the tile. The word is not used,
// but it moves each row to the next bank: the 32 words of a column lie in 32 banks, and a warp
// reads them at once. The picture does not change; the counters show no bank conflicts.

using Pixel = unsigned;  // 4 bytes: red lowest, then green, blue and alpha

constexpr int side = 32;  // of a tile; it covers four blocks, and one of them moves it
constexpr int warps = 8;

// From 0 to 255 and back in 256 steps, like a sine. It uses integers only, so every device computes
// the same values.
__device__ int wave(int angle) {
    const int up = angle & 128 ? 127 - (angle & 127) : angle & 127;
    return up * up * (384 - 2 * up) >> 13;
}

// The picture to transpose: tracks of 16 rows, and a light with a tail moves along each of them.
__device__ Pixel source(int x, int y, int tick) {
    const int track = y / 16, across = y % 16;
    const int tail = (x - tick * (2 + track * 5 % 4) + track * 89) & 255;
    const int light = (48 + (tail * tail >> 8)) * (across * (15 - across) + 8) >> 6;
    const int red = wave(track * 11) * light >> 8;
    const int green = wave(track * 11 + 85) * light >> 8;
    const int blue = wave(track * 11 + 170) * light >> 8;
    return 0xff000000u | min(blue, 255) << 16 | min(green, 255) << 8 | min(red, 255);
}

extern "C" __global__ void transpose_padded(Pixel* pixels, int width, int height, float time) {
    __shared__ Pixel tile[side][side + 1];
    // Three of four blocks have nothing to do. All their threads return here, so that no thread
    // waits at the barrier below for a thread that has left.
    if (blockIdx.x % 2 != 0 || blockIdx.y % 2 != 0) return;
    const int tick = __float2int_rn(60.0f * time);
    const int thread = threadIdx.y * blockDim.x + threadIdx.x;
    const int lane = thread % 32, warp = thread / 32;
    const int left = blockIdx.x * blockDim.x, top = blockIdx.y * blockDim.y;

    // Writes the tile at the mirrored position, row by row. The 32 words of a row lie in 32 banks:
    // no conflict.
    for (int row = warp; row < side; row += warps)
        tile[row][lane] = source(top + lane, left + row, tick);
    // Removes a read-after-write hazard: a warp reads a column that all eight warps wrote.
    __syncthreads();
    for (int row = warp; row < side; row += warps) {
        const int x = left + lane, y = top + row;
        // tile[0][row], tile[1][row], ... are 33 words apart, so each lies in the next bank.
        const Pixel turned = tile[lane][row];
        if (x < width && y < height) pixels[y * width + x] = x > y ? turned : source(x, y, tick);
    }
}
