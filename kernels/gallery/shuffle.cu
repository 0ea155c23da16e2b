// A warp sorts 32 numbers without shared memory and without a barrier: each lane keeps one number
// in a register and reads the number of another lane with a shuffle. The picture has 16 strips, and
// each strip shows the numbers after one more step of the bitonic sorting network: random at the
// top, sorted from dark to bright at the bottom.
//
// Batcher, "Sorting networks and their applications" (1968): 15 steps sort 32 numbers.

using Pixel = unsigned;  // 4 bytes: red lowest, then green, blue and alpha

constexpr unsigned all_lanes = 0xffffffffu;  // the lanes that take part in a shuffle
constexpr int lanes = 32;
constexpr int steps = 15;
constexpr int bar = 8;  // pixels that show one number

__device__ unsigned hash(unsigned value) {
    value = (value ^ value >> 16) * 0x7feb352du;
    value = (value ^ value >> 15) * 0x846ca68bu;
    return value ^ value >> 16;
}

// The number that this lane has after `count` steps of the network.
__device__ int sort(int number, int lane, int count) {
    int step = 0;
    // Merges into sorted runs of this length, rising and falling by turns.
    for (int run = 2; run <= lanes; run *= 2)
        for (int distance = run / 2; distance > 0; distance /= 2) {
            if (step++ == count) return number;  // all lanes of a warp return here together
            const int other = __shfl_xor_sync(all_lanes, number, distance);
            const bool rising = (lane & run) == 0, lower = (lane & distance) == 0;
            number = rising == lower ? min(number, other) : max(number, other);
        }
    return number;
}

__device__ Pixel colour(int number) {
    const int green = number * number >> 8;
    const int blue = 70 + (number * (255 - number) >> 7) - (number >> 3);
    return 0xff000000u | blue << 16 | green << 8 | number;
}

extern "C" __global__ void shuffle(Pixel* pixels, int width, int height, float time) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int lane = (threadIdx.y * blockDim.x + threadIdx.x) % lanes;
    // The same value in the whole block: lanes that had left sort() could not take part in its
    // shuffles.
    const int count = blockIdx.y * (steps + 1) / gridDim.y;
    const int group = blockIdx.x * blockDim.x / (lanes * bar);
    const int round = __float2int_rn(60.0f * time) / 120;

    // The warps of a group all sort the same 32 numbers.
    const int number = hash(round * 4096 + group * lanes + lane) & 255;
    const int sorted = sort(number, lane, count);
    // Each thread reads the number of the bar in which its pixel is.
    const int shown = __shfl_sync(all_lanes, sorted, x / bar % lanes);
    if (x < width && y < height)
        pixels[y * width + x] = x % bar == bar - 1 ? 0xff100808u : colour(shown);
}
