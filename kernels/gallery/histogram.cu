// Counting with atomics in shared memory: how often does each brightness occur in the picture? The
// bars show the counts, dark on the left and bright on the right. The light follows the mouse, and
// the bars change with it.
//
// Many threads add to the same bin, so they use atomicAdd. It is fast in shared memory. Each block
// has its own 64 bins and counts the whole picture for the bars that it draws.

using Pixel = unsigned;  // 4 bytes: red lowest, then green, blue and alpha

constexpr int bins = 64;
constexpr int columns = 32, rows = 32;  // of the grid of pixels that are counted

// From 0 to 255 and back in 256 steps, like a sine. It uses integers only, so every device computes
// the same values.
__device__ int wave(int angle) {
    const int up = angle & 128 ? 127 - (angle & 127) : angle & 127;
    return up * up * (384 - 2 * up) >> 13;
}

// The brightness of a pixel, from 0 to 255: a light above waves.
__device__ int brightness(int x, int y, int light_x, int light_y, int tick) {
    const int dx = x - light_x, dy = y - light_y;
    const int light = max(255 - (dx * dx + dy * dy >> 8), 0);
    const int waves = wave(x / 2 + tick) + wave(y - x / 4 - tick);
    return (light * 5 + waves * 3 / 2) / 8;
}

extern "C" __global__ void histogram(Pixel* pixels, int width, int height, float time,
                                     float3 mouse) {
    __shared__ int counts[bins];
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int thread = threadIdx.y * blockDim.x + threadIdx.x, threads = blockDim.x * blockDim.y;
    const int tick = __float2int_rn(60.0f * time);
    const int light_x = min(max(__float2int_rd(mouse.x), -width), 2 * width);
    const int light_y = min(max(__float2int_rd(mouse.y), -height), 2 * height);

    // Shared memory holds what an earlier block left there.
    if (thread < bins) counts[thread] = 0;
    // Removes a write-after-write hazard: other threads add to the bins that this thread clears.
    __syncthreads();
    for (int i = thread; i < columns * rows; i += threads) {
        const int sample_x = i % columns * width / columns, sample_y = i / columns * height / rows;
        atomicAdd(&counts[brightness(sample_x, sample_y, light_x, light_y, tick) / 4], 1);
    }
    // Removes a read-after-write hazard: a bar shows what all threads have added.
    __syncthreads();

    if (x >= width || y >= height) return;  // after the last barrier
    const int bin = x * bins / width;
    const int bar = counts[bin] * height / (columns * rows / 8);
    const int light = brightness(x, y, light_x, light_y, tick);
    const bool gap = (x + 1) * bins / width != bin;
    const Pixel picture = 0xff000000u | light << 16 | (light * light >> 8) << 8 | light * 3 / 4;
    const Pixel shade = 0xff000000u | bin << 16 | (96 + bin * 2) << 8 | 255;
    pixels[y * width + x] = height - y <= bar && !gap ? shade : picture;
}
