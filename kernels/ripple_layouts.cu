// The picture of ripple.cu with other layouts of the tile in shared memory. Shared memory has 32
// banks of 4-byte words: consecutive words lie in consecutive banks, and each bank serves one word
// of a warp's access at a time. Lanes that access different words of one bank wait for one another.
// The last kernel uses the layout of ripple.cu, but stores the pixel byte by byte.

constexpr unsigned side = 16;  // of a tile in pixels, and of a block in threads
constexpr float pi = 3.1415926535897932f;

enum Pattern { spheres, rings };

using Pixel = unsigned;  // 4 bytes: red lowest, then green, blue and alpha

// As in ripple.cu: the cosine of pi * a.
__device__ float cos_pi(float a) {
#ifdef __USE_FAST_MATH__
    return __cosf(pi * a);
#else
    return cospif(a);
#endif
}

// As in ripple.cu: the brightness of pixel (x, y), from 0 to 255.
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

// As in ripple.cu: green for the spheres, grey for the rings.
__device__ Pixel colour(int pattern, float value) {
    const unsigned shade = min(__float2uint_rz(value), 255u);
    return 0xff000000u | (pattern == spheres ? shade << 8 : shade * 0x010101u);
}

// Element [tx][ty] of a tile whose rows are `pitch` words long. A warp is two rows of 16 threads,
// so it accesses two words in each of the tile's 16 rows. With rows of 16 words, as in ripple.cu,
// 8 lanes meet in each bank; with rows of 17 words, 2 lanes; with rows of 18 words, none.
template <unsigned pitch>
struct ByColumn {
    static constexpr unsigned elements = side * pitch;
    static __device__ unsigned at(unsigned tx, unsigned ty) { return tx * pitch + ty; }
};

// Element [ty][tx]: a warp accesses 32 consecutive words, one in each bank.
struct ByRow {
    static constexpr unsigned elements = side * side;
    static __device__ unsigned at(unsigned tx, unsigned ty) { return ty * side + tx; }
};

enum Stores { word, bytes };

// Stores a pixel with one instruction, or with four as the book does. `volatile` keeps the compiler
// from joining the four.
__device__ void store(Pixel* place, Pixel pixel, Stores stores) {
    if (stores == word) {
        *place = pixel;
        return;
    }
    volatile unsigned char* channel = reinterpret_cast<unsigned char*>(place);
    for (int i = 0; i < 4; ++i) channel[i] = static_cast<unsigned char>(pixel >> 8 * i);
}

template <class Layout>
__device__ void draw(Pixel* pixels, int width, int height, float ticks, int pattern, bool barrier,
                     Stores stores = word) {
    __shared__ float tile[Layout::elements];
    const unsigned x = blockIdx.x * side + threadIdx.x;
    const unsigned y = blockIdx.y * side + threadIdx.y;

    tile[Layout::at(threadIdx.x, threadIdx.y)] = brightness(pattern, x, y, width, height, ticks);
    // Removes a read-after-write hazard: this thread reads the element that the opposite thread of
    // the block writes, and that thread may be in a warp that has not come so far yet.
    if (barrier) __syncthreads();
    const float value = tile[Layout::at(side - 1 - threadIdx.x, side - 1 - threadIdx.y)];

    if (x < width && y < height) store(pixels + y * width + x, colour(pattern, value), stores);
}

extern "C" __global__ void ripple_tytx(Pixel* pixels, int width, int height, float ticks,
                                       int pattern) {
    draw<ByRow>(pixels, width, height, ticks, pattern, true);
}

extern "C" __global__ void ripple_tytx_nosync(Pixel* pixels, int width, int height, float ticks,
                                              int pattern) {
    draw<ByRow>(pixels, width, height, ticks, pattern, false);
}

extern "C" __global__ void ripple_padded17(Pixel* pixels, int width, int height, float ticks,
                                           int pattern) {
    draw<ByColumn<17>>(pixels, width, height, ticks, pattern, true);
}

extern "C" __global__ void ripple_padded17_nosync(Pixel* pixels, int width, int height, float ticks,
                                                  int pattern) {
    draw<ByColumn<17>>(pixels, width, height, ticks, pattern, false);
}

extern "C" __global__ void ripple_padded(Pixel* pixels, int width, int height, float ticks,
                                         int pattern) {
    draw<ByColumn<18>>(pixels, width, height, ticks, pattern, true);
}

extern "C" __global__ void ripple_padded_nosync(Pixel* pixels, int width, int height, float ticks,
                                                int pattern) {
    draw<ByColumn<18>>(pixels, width, height, ticks, pattern, false);
}

extern "C" __global__ void ripple_bytes(Pixel* pixels, int width, int height, float ticks,
                                        int pattern) {
    draw<ByColumn<16>>(pixels, width, height, ticks, pattern, true, bytes);
}

extern "C" __global__ void ripple_bytes_nosync(Pixel* pixels, int width, int height, float ticks,
                                               int pattern) {
    draw<ByColumn<16>>(pixels, width, height, ticks, pattern, false, bytes);
}
