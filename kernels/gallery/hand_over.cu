// One warp hands rows of pixels over to another one, without a barrier of the block. Warp 0 computes
// 32 pixels and stores them in one of two slots in shared memory; warp 1 draws them from right to
// left. Two mbarriers (from sm_80 on) belong to each slot: one tells warp 1 that the slot is full,
// the other one tells warp 0 that it is empty.
//
// An arrival speaks for the thread that arrives. With `every_lane` = 0 one lane arrives for the
// stores of all 32: THAT IS RACY ON PURPOSE. The picture is right where the lanes of a warp happen
// to run together, and the race check finds the race all the same.

using Pixel = unsigned;  // 4 bytes: red lowest, then green, blue and alpha
using Mbarrier = unsigned long long;

constexpr int lanes = 32;
constexpr int rows = 32;  // that a block draws
constexpr int slots = 2;

// From 0 to 255 and back in 256 steps, like a sine. It uses integers only, so every device computes
// the same values.
__device__ int wave(int angle) {
    const int up = angle & 128 ? 127 - (angle & 127) : angle & 127;
    return up * up * (384 - 2 * up) >> 13;
}

// Ribbons.
__device__ Pixel source(int x, int y, int tick) {
    const int bend = wave(y + tick) + wave(2 * y - 3 * tick) / 2;
    const int light = wave(3 * x + bend), shade = wave(x + 2 * y + tick);
    return 0xff000000u | (light + shade) / 2 << 16 | (light * shade >> 8) << 8 | light;
}

__device__ unsigned shared_address(const void* p) {
    return unsigned(__cvta_generic_to_shared(p));
}

// Each phase of the mbarrier ends with this many arrivals.
__device__ void init(Mbarrier* barrier, unsigned arrivals) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals)
                 : "memory");
}

__device__ void arrive(Mbarrier* barrier) {
    asm volatile("{\n.reg .b64 state;\nmbarrier.arrive.shared.b64 state, [%0];\n}" ::"r"(
                     shared_address(barrier))
                 : "memory");
}

// Waits until the phase with this parity has ended.
__device__ void wait(Mbarrier* barrier, unsigned parity) {
    asm volatile(
        "{\n"
        ".reg .pred ended;\n"
        "again: mbarrier.test_wait.parity.shared.b64 ended, [%0], %1;\n"
        "@!ended bra again;\n"
        "}" ::"r"(shared_address(barrier)),
        "r"(parity)
        : "memory");
}

extern "C" __global__ void hand_over(Pixel* pixels, int width, int height, float time,
                                     int every_lane) {
    __shared__ Pixel slot[slots][lanes];
    __shared__ Mbarrier full[slots], empty[slots];
    const int lane = threadIdx.x % lanes, tick = __float2int_rn(60.0f * time);
    const int left = blockIdx.x * lanes, top = blockIdx.y * rows;
    if (threadIdx.x == 0)
        for (int s = 0; s < slots; ++s) {
            init(&full[s], every_lane ? lanes : 1);
            init(&empty[s], lanes);
        }
    // Removes a race: warp 1 uses the mbarriers that thread 0 has made.
    __syncthreads();

    for (int row = 0; row < rows; ++row) {
        const int s = row % slots;
        const unsigned parity = row / slots % 2;
        if (threadIdx.x < lanes) {
            // Removes a write-after-read hazard: warp 1 has read the slot. The phase before the
            // first one counts as ended, so the first waits end at once.
            wait(&empty[s], parity ^ 1);
            slot[s][lane] = source(left + lane, top + row, tick);
            // Removes a read-after-write hazard, for the stores of the lanes that arrive.
            if (every_lane || lane == 0) arrive(&full[s]);
        } else {
            wait(&full[s], parity);
            const Pixel pixel = slot[s][lanes - 1 - lane];
            arrive(&empty[s]);
            const int x = left + lane, y = top + row;
            if (x < width && y < height) pixels[y * width + x] = pixel;
        }
    }
}
