// The ripple: a block of 16x16 threads draws 16x16 pixels.
// Each thread writes the brightness of its own pixel into the
// tile and stores what the opposite thread wrote.

constexpr unsigned side = 16;  // of a tile in pixels, and of a block in threads
constexpr float pi = 3.1415926535897932f;

__device__ float brightness(int pattern, unsigned x, unsigned y,
                            int width, int height, float ticks) {
    if (pattern == 0) {
        const float across = cospif(x / 64.0f - 0.5f) + 1;
        const float down = cospif(y / 64.0f - 0.5f) + 1;
        return 255.0f / 4 * across * down;
    }
    const float dx = float(x) - width / 2, dy = float(y) - height / 2;
    const float distance = sqrtf(dx * dx + dy * dy) / 10;
    return 128 + 127 * cospif((distance - ticks / 7) / pi) / (distance + 1);
}

__device__ unsigned colour(int pattern, float value) {
    const unsigned shade = min(__float2uint_rz(value), 255u);
    return 0xff000000u | (pattern == 0 ? shade << 8 : shade * 0x010101u);
}

__device__ void draw(unsigned* pixels, int width, int height,
                     float ticks, int pattern) {
    __shared__ float tile[side][side];
    const unsigned x = blockIdx.x * side + threadIdx.x;
    const unsigned y = blockIdx.y * side + threadIdx.y;

    /*__syncthreads()*/;
    tile[threadIdx.x][threadIdx.y] =
        brightness(pattern, x, y, width, height, ticks);
    /*__syncthreads()*/;
    const float value =
        tile[side - 1 - threadIdx.x][side - 1 - threadIdx.y];
    /*__syncthreads()*/;

    if (x < width && y < height) pixels[y * width + x] = colour(pattern, value);
}

extern "C" __global__ void ripple_txty(unsigned* pixels, int width,
        int height, float ticks, int pattern) {
    draw(pixels, width, height, ticks, pattern);
}

extern "C" __global__ void ripple_txty_nosync(unsigned* pixels, int width,
        int height, float ticks, int pattern) {
    draw(pixels, width, height, ticks, pattern);
}
