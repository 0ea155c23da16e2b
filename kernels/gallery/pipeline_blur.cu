// A blur whose rows come through a cuda::pipeline of two stages. A block goes down a strip of the
// picture. While its threads add up the row in one stage, asynchronous copies (cp.async, from sm_80
// on) fill the other one. With `wait` = 0 nobody waits for the copies before the row is read: THAT
// IS RACY ON PURPOSE, and the picture tears.

#include <cooperative_groups.h>
#include <cuda/pipeline>

using Pixel = unsigned;  // 4 bytes: red lowest, then green, blue and alpha

constexpr int threads = 128;  // of a block, and columns of its strip
constexpr int strip = 64;     // rows of a strip
constexpr int radius = 4;
constexpr int side = 2 * radius + 1;         // of the square whose mean a pixel becomes
constexpr int wide = threads + 2 * radius;   // of a row in shared memory
constexpr int stages = 2;

// From 0 to 255 and back in 256 steps, like a sine. It uses integers only, so every device computes
// the same values.
__device__ int wave(int angle) {
    const int up = angle & 128 ? 127 - (angle & 127) : angle & 127;
    return up * up * (384 - 2 * up) >> 13;
}

// Draws the picture to blur: rings that grow.
extern "C" __global__ void rings(Pixel* source, int width, int height, float time) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int dx = (x & 127) - 64, dy = (y & 127) - 64;
    const int ring = (dx * dx + dy * dy >> 9) - __float2int_rn(60.0f * time) / 8;
    const int angle = 64 * (ring & 7) + (x >> 7) * 24 + (y >> 7) * 40;
    const bool dark = ring & 1;
    if (x < width && y < height)
        source[y * width + x] = dark ? 0xff302010u
                                     : 0xff000000u | wave(angle + 170) << 16 |
                                           wave(angle + 85) << 8 | wave(angle);
}

// Sums of colours. Red and blue share one word, 16 bits each, and are added together.
struct Sums {
    unsigned red_blue = 0, green = 0;
    __device__ void add(Sums other) {
        red_blue += other.red_blue;
        green += other.green;
    }
    __device__ void remove(Sums other) {
        red_blue -= other.red_blue;
        green -= other.green;
    }
    __device__ Pixel mean() const {
        constexpr unsigned count = side * side;
        return 0xff000000u | (red_blue >> 16) / count << 16 | green / count << 8 |
               (red_blue & 0xffffu) / count;
    }
};

__device__ Sums sums_of(Pixel pixel) {
    return {pixel & 0xff00ffu, pixel >> 8 & 0xffu};
}

extern "C" __global__ void pipeline_blur(Pixel* pixels, const Pixel* source, int width, int height,
                                         int wait) {
    __shared__ Pixel rows[stages][wide];
// The constructor of this variable does not run; make_pipeline() initialises it.
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    auto pipeline = cuda::make_pipeline(cooperative_groups::this_thread_block(), &state);

    const int x = blockIdx.x * threads + threadIdx.x, top = blockIdx.y * strip;
    const int first = top - radius, end = min(top + strip, height) + radius;
    // Starts to copy a row. Beyond its edges the picture has the pixels of the edge.
    const auto start = [&](int row) {
        // Removes a write-after-read hazard: the row before the last one may still be read.
        pipeline.producer_acquire();
        const Pixel* const from = source + min(max(row, 0), height - 1) * width;
        for (int i = threadIdx.x; i < wide; i += threads) {
            const int column = blockIdx.x * threads + i - radius;
            cuda::memcpy_async(&rows[(row - first) % stages][i],
                               &from[min(max(column, 0), width - 1)], sizeof(Pixel), pipeline);
        }
        pipeline.producer_commit();
    };

    Sums newest[side], all;  // of the nine pixels around x in the newest rows; all of them together
    start(first);
    for (int row = first; row < end; ++row) {
        if (row + 1 < end) start(row + 1);
        // Removes a read-after-write hazard: all threads have waited for their copies.
        if (wait) pipeline.consumer_wait();
        all.remove(newest[0]);
#pragma unroll
        for (int k = 0; k + 1 < side; ++k) newest[k] = newest[k + 1];
        newest[side - 1] = {};
#pragma unroll
        for (int k = 0; k < side; ++k)
            newest[side - 1].add(sums_of(rows[(row - first) % stages][threadIdx.x + k]));
        pipeline.consumer_release();
        all.add(newest[side - 1]);
        const int y = row - radius;
        if (y >= top && x < width) pixels[y * width + x] = all.mean();
    }
}
