// A warp sorts 32 numbers without shared memory and without a barrier: each lane keeps one number
// in a register and looks at another lane's with a shuffle. From the top down the bitonic network
// does one step more in each of 16 strips: noise above, 32 bars from dark to bright below.
//
// Batcher, "Sorting networks and their applications" (1968): 15 steps sort 32 numbers.

using Pixel = unsigned;  // bytes r, g, b, a

constexpr unsigned everyone = 0xffffffffu;  // all 32 lanes take part in every shuffle
constexpr int lanes = 32;
constexpr int steps = 15;
constexpr int bar = 8;  // pixels that show one number

__device__ unsigned hash(unsigned value) {
    value = (value ^ value >> 16) * 0x7feb352du;
    value = (value ^ value >> 15) * 0x846ca68bu;
    return value ^ value >> 16;
}

// After `count` steps of the network the number that this lane has.
__device__ int sort(int number, int lane, int count) {
    int step = 0;
    // Sorted runs of this length, every other one falling.
    for (int run = 2; run <= lanes; run *= 2)
        for (int distance = run / 2; distance > 0; distance /= 2) {
            if (step++ == count) return number;  // the same for all lanes of a warp
            const int other = __shfl_xor_sync(everyone, number, distance);
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

extern "C" __global__ void scratch(Pixel* pixels, int width, int height, float time, float3) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int lane = (threadIdx.y * blockDim.x + threadIdx.x) % lanes;
    // Of one value in a whole block: where lanes went different ways, no shuffle could reach them.
    const int count = blockIdx.y * (steps + 1) / gridDim.y;
    const int group = blockIdx.x * blockDim.x / (lanes * bar);
    const int round = __float2int_rn(60.0f * time) / 120;

    // Every warp of a group sorts the same 32 numbers ...
    const int number = hash(round * 4096 + group * lanes + lane) & 255;
    const int sorted = sort(number, lane, count);
    // ... and asks that lane which has the number of its pixel's bar.
    const int shown = __shfl_sync(everyone, sorted, x / bar % lanes);
    if (x < width && y < height)
        pixels[y * width + x] = x % bar == bar - 1 ? 0xff100808u : colour(shown);
}
