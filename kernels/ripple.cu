// A picture that passes through shared memory, after "CUDA by Example" (Sanders and Kandrot),
// section 5.3.3. A block of 16x16 threads draws a tile of 16x16 pixels. Each thread writes the
// brightness of its own pixel into the tile, reads the brightness that the opposite thread wrote,
// and stores that as its pixel. The picture is right only if a barrier separates the write from
// the read. The rings are those of the book's section 5.2.2.

constexpr unsigned side = 16;  // of a tile in pixels, and of a block in threads
constexpr float pi = 3.1415926535897932f;

enum Pattern { spheres, rings };

using Pixel = unsigned;  // 4 bytes: red lowest, then green, blue and alpha

// The cosine of pi * a. Fast math takes the GPU's approximation, which is one instruction. Precise
// math takes cospif, because cosf needs much more code for large angles.
__device__ float cos_pi(float a) {
#ifdef __USE_FAST_MATH__
    return __cosf(pi * a);
#else
    return cospif(a);
#endif
}

// The brightness of pixel (x, y), from 0 to 255. The rings move outwards as `ticks` grows.
__device__ float brightness(int pattern, unsigned x, unsigned y, int width, int height,
                            float ticks) {
    if (pattern == spheres) {
        const float step = 2.0f / 128;  // one period, 2 pi, in 128 pixels
        const float across = cos_pi(x * step - 0.5f) + 1, down = cos_pi(y * step - 0.5f) + 1;
        return 255.0f / 4 * across * down;
    }
    const float dx = float(x) - width / 2, dy = float(y) - height / 2;
    const float distance = sqrtf(dx * dx + dy * dy) / 10;
    return 128 + 127 * cos_pi((distance - ticks / 7) / pi) / (distance + 1);
}

// Spheres are green, rings are grey. A value that is out of range becomes 0 or 255: a thread that
// reads too early can read anything.
__device__ Pixel colour(int pattern, float value) {
    const unsigned shade = min(__float2uint_rz(value), 255u);
    return 0xff000000u | (pattern == spheres ? shade << 8 : shade * 0x010101u);
}

// `barrier` is known when the kernels below are compiled: each has its own copy of this function.
__device__ void draw(Pixel* pixels, int width, int height, float ticks, int pattern, bool barrier) {
    __shared__ float tile[side][side];
    const unsigned x = blockIdx.x * side + threadIdx.x;
    const unsigned y = blockIdx.y * side + threadIdx.y;

    tile[threadIdx.x][threadIdx.y] = brightness(pattern, x, y, width, height, ticks);
    // Removes a read-after-write hazard: this thread reads the element that the opposite thread of
    // the block writes, and that thread may be in a warp that has not come so far yet.
    if (barrier) __syncthreads();
    const float value = tile[side - 1 - threadIdx.x][side - 1 - threadIdx.y];

    // The last blocks of a row and of a column may reach beyond the picture.
    if (x < width && y < height) pixels[y * width + x] = colour(pattern, value);
}

extern "C" __global__ void ripple_txty(Pixel* pixels, int width, int height, float ticks,
                                       int pattern) {
    draw(pixels, width, height, ticks, pattern, true);
}

extern "C" __global__ void ripple_txty_nosync(Pixel* pixels, int width, int height, float ticks,
                                              int pattern) {
    draw(pixels, width, height, ticks, pattern, false);
}
