// The picture of ripple.cu, drawn by a kernel that detects reads which come too early and measures
// when the warps of one block wrote, waited and read. Each word of the tile holds a value together
// with a stamp that no other block and no earlier launch has used. Both are written by one 8-byte
// store, so a word with another stamp was not written by this block in this launch: the read is
// stale. Chosen warps can be delayed before they write or before they read.

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

// `volatile` and the "memory" clobber keep the compiler from reading the clock on the other side of
// a barrier or of an access.
__device__ long long clock_now() {
    long long now;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(now)::"memory");
    return now;
}

__device__ void spin(int clocks) {
    const long long start = clock_now();
    while (clock_now() - start < clocks) {
    }
}

__device__ unsigned multiprocessor() {
    unsigned id;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
    return id;
}

__device__ unsigned thread_of_block() {
    return threadIdx.y * side + threadIdx.x;
}

// Adds the number of the block's threads whose `hit` is true to *counter. Every thread calls it.
__device__ void count_hits(bool hit, unsigned* counter) {
    const unsigned hits = __ballot_sync(0xffffffffu, hit);
    if (thread_of_block() % 32 == 0 && hits != 0) atomicAdd(counter, __popc(hits));
}

// The clock of a warp's multiprocessor when the warp began, began to compute and write, came to the
// barrier, left the barrier, began to read, and had stored its pixels.
struct WarpTimes {
    long long began, woke, arrived, left, resumed, ended;
    long long multiprocessor;
};

// Input and output of the measurement: the delays, and pointers to the results.
struct Watch {
    unsigned first_stamp;   // a block's stamp is this plus the index of the block
    unsigned late_writers;  // the warps of every block that wait before they write, one bit each
    unsigned late_readers;  // the warps that wait before they read, one bit each
    int delay;              // how long they wait, in clocks
    unsigned timed_block;   // the index of the block whose times are stored
    unsigned* stale_count;
    unsigned char* stale_mask;  // one byte per pixel; 1: the read was stale
    WarpTimes* times;           // of the timed block's 8 warps
};

__device__ void draw(Pixel* pixels, int width, int height, float ticks, int pattern,
                     const Watch& watch, bool barrier) {
    __shared__ unsigned long long tile[side][side];
    const unsigned x = blockIdx.x * side + threadIdx.x;
    const unsigned y = blockIdx.y * side + threadIdx.y;
    const unsigned block = blockIdx.x + blockIdx.y * gridDim.x;
    const unsigned stamp = watch.first_stamp + block;
    const unsigned warp = thread_of_block() / 32;
    const bool timed = block == watch.timed_block;
    const bool late_reader = watch.late_readers >> warp & 1;
    // Reading the clock takes time and so changes which warp comes first. Warps that are neither
    // timed nor delayed do not read it.
    const bool watched = timed || late_reader;
    WarpTimes times;
    if (timed) times.began = clock_now();
    if (watch.late_writers >> warp & 1) spin(watch.delay);
    if (timed) times.woke = clock_now();

    const float value = brightness(pattern, x, y, width, height, ticks);
    tile[threadIdx.x][threadIdx.y] =
        static_cast<unsigned long long>(stamp) << 32 | __float_as_uint(value);
    if (watched) times.arrived = clock_now();
    // Removes the read-after-write hazard of ripple.cu: this thread reads the word that the
    // opposite thread of the block writes.
    if (barrier) __syncthreads();
    if (watched) {
        // The GPU lets a warp run on behind a barrier up to the first instruction that does more
        // than read a register (BAR.SYNC.DEFER_BLOCKING). Without this instruction the clock would
        // be read while the warp still waits.
        __syncwarp();
        times.left = clock_now();
        if (late_reader) spin(watch.delay);
        times.resumed = clock_now();
    }
    const unsigned long long read = tile[side - 1 - threadIdx.x][side - 1 - threadIdx.y];

    const bool inside = x < width && y < height;
    const bool stale = inside && static_cast<unsigned>(read >> 32) != stamp;
    if (inside) {
        const unsigned place = y * width + x;
        pixels[place] = colour(pattern, __uint_as_float(static_cast<unsigned>(read)));
        watch.stale_mask[place] = stale;
    }
    if (timed) times.ended = clock_now();
    times.multiprocessor = multiprocessor();
    count_hits(stale, watch.stale_count);
    if (timed && thread_of_block() % 32 == 0) watch.times[warp] = times;
}

extern "C" __global__ void ripple_stamped(Pixel* pixels, int width, int height, float ticks,
                                          int pattern, Watch watch) {
    draw(pixels, width, height, ticks, pattern, watch, true);
}

extern "C" __global__ void ripple_stamped_nosync(Pixel* pixels, int width, int height, float ticks,
                                                 int pattern, Watch watch) {
    draw(pixels, width, height, ticks, pattern, watch, false);
}
