// The picture that the pipeline filters: discs that grow and shrink, with sharp edges.

using Pixel = unsigned;  // 4 bytes: red lowest, then green, blue and alpha

constexpr int margin = 4;  // pixels before the first one and behind the last one

// From 0 to 255 and back in 256 steps, like a sine. It uses integers only, so every device computes
// the same values.
__device__ int wave(int angle) {
    const int up = angle & 128 ? 127 - (angle & 127) : angle & 127;
    return up * up * (384 - 2 * up) >> 13;
}

__device__ Pixel colour(int x, int y, int tick) {
    const int column = x >> 6, row = y >> 6;
    const int dx = (x & 63) * 2 - 63, dy = (y & 63) * 2 - 63;
    const int reach = 256 + 12 * wave(tick * 2 + 16 * column + 24 * row);
    if (dx * dx + dy * dy > reach) return (column + row) & 1 ? 0xff302010u : 0xff20140cu;
    const int angle = 9 * column + 13 * row;
    return 0xff000000u | wave(angle + 170) << 16 | wave(angle + 85) << 8 | wave(angle);
}

// Draws size * size pixels, row after row, and the margins.
extern "C" __global__ void pipeline_source(Pixel* source, int size, int tick) {
    const int count = size * size + 2 * margin;
    const int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        const int place = min(max(i - margin, 0), size * size - 1);
        source[i] = colour(place % size, place / size, tick);
    }
}
