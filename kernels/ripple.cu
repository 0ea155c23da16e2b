// A bitmap that shared memory turns: each 16x16 block writes a tile, reads it back rotated by 180
// degrees, and stores the pixels. After "CUDA by Example" (Sanders, Kandrot), section 5.3.3, with
// the rings of its section 5.2.2. Only a barrier between writing and reading makes it right.

constexpr int side = 16;  // of a tile, and of a block: side x side threads
constexpr float pi = 3.1415926535897932f;

enum Pattern { spheres, rings };
enum View { picture_view, wrong_view, stale_view, split_view };

// Where tile element (tx, ty) lies. Column by column, as the book has it, a warp's 16 columns start
// only 16 banks apart: 8 lanes meet in a bank. A pitch of 17 leaves one pair, 18 none.
template <int Pitch>
struct ByColumn {
    static constexpr int elements = side * Pitch;
    static __device__ int at(int tx, int ty) { return tx * Pitch + ty; }
};

struct ByRow {
    static constexpr int elements = side * side;
    static __device__ int at(int tx, int ty) { return ty * side + tx; }
};

// In place of a barrier that is left out: else the compiler could move the read before the write,
// and the race would be its choice instead of the machine's.
__device__ void keep_order() {
    asm volatile("" ::: "memory");
}

// 0 .. 255 at pixel (x, y). cospif(a) is cos(pi a): much less code than cosf for any a.
__device__ float level(int pattern, int x, int y, int width, int height, float ticks) {
    if (pattern == spheres) {
        const float half = 64.0f, quarter = 32.0f;  // of a period: sin(2 pi x / 128)
        return 255 * (cospif((x - quarter) / half) + 1.0f) * (cospif((y - quarter) / half) + 1.0f) /
               4.0f;
    }
    const float dx = x - width / 2, dy = y - height / 2;
    const float distance = sqrtf(dx * dx + dy * dy) / 10.0f;
    const float phase = (distance - ticks / 7.0f) / pi;
    return 128.0f + 127.0f * cospif(phase) / (distance + 1.0f);
}

// A pixel is one word, its bytes r, g, b, a: one store, and no more work than that anywhere.
using Pixel = unsigned;
constexpr Pixel opaque = 0xff000000u;
constexpr Pixel magenta = 0xffff00ffu;

__device__ Pixel colour(int pattern, float value) {
    // Saturating, since a stale word can hold anything.
    const unsigned shade = min(__float2uint_rz(value), 255u);
    return opaque | (pattern == spheres ? shade << 8 : shade * 0x010101u);
}

__device__ unsigned thread_of_block() {
    return threadIdx.y * side + threadIdx.x;
}

// Adds the number of threads whose `hit` is true; for whole warps.
__device__ void count_hits(bool hit, unsigned* counter) {
    const unsigned hits = __ballot_sync(0xffffffffu, hit);
    if (thread_of_block() % 32 == 0 && hits != 0) atomicAdd(counter, __popc(hits));
}

// Gives `value` to the thread on the opposite side of the tile and returns what that one wrote.
template <class Layout, bool Sync>
__device__ float exchange(float value) {
    __shared__ float tile[Layout::elements];
    tile[Layout::at(threadIdx.x, threadIdx.y)] = value;
    // Read after write between warps: thread (15-tx, 15-ty) must have written before it is read.
    if (Sync)
        __syncthreads();
    else
        keep_order();
    return tile[Layout::at(side - 1 - threadIdx.x, side - 1 - threadIdx.y)];
}

// Every thread writes and reads the tile; only those inside the picture store.
template <class Layout, bool Sync, bool Bytes>
__device__ void draw(Pixel* pixels, int width, int height, float ticks, int pattern) {
    const int x = blockIdx.x * side + threadIdx.x;
    const int y = blockIdx.y * side + threadIdx.y;
    const float value = exchange<Layout, Sync>(level(pattern, x, y, width, height, ticks));
    if (x >= width || y >= height) return;
    const Pixel pixel = colour(pattern, value);
    Pixel* place = pixels + (static_cast<size_t>(y) * width + x);
    if (Bytes) {
        // Volatile keeps the book's four stores apart.
        volatile unsigned char* bytes = reinterpret_cast<unsigned char*>(place);
        for (int i = 0; i < 4; ++i) bytes[i] = static_cast<unsigned char>(pixel >> 8 * i);
    } else {
        *place = pixel;
    }
}

// Volatile and with a clobber: else the compiler moves the clock to the other side of a barrier.
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

// Clocks of a warp's multiprocessor: when it began, began to compute and write, came to the
// barrier, left it, began to read, and had stored what it read.
struct WarpTimes {
    long long began, woke, arrived, left, resumed, ended;
    long long multiprocessor;
};

// What the instrumented kernel is told, and where it leaves what it saw.
struct Watch {
    unsigned first_stamp;   // a block's is first_stamp + its index: none was used before
    unsigned late_writers;  // warps of every block that spin before they write, a bit each
    unsigned late_readers;  // or before they read
    int delay;              // for as many clocks
    unsigned timed_block;   // the index of the block that leaves its `times`
    unsigned* stale_count;
    unsigned char* stale_mask;  // a byte for each pixel, 1: stale
    WarpTimes* times;           // of the 8 warps
};

// The same picture with {value, stamp} in one 8-byte word of the tile, so that both are of one
// write. A word whose stamp is not the reader's was not written by this block of this launch.
template <bool Sync>
__device__ void draw_stamped(Pixel* pixels, int width, int height, float ticks, int pattern,
                             const Watch& watch) {
    using Layout = ByColumn<side>;
    __shared__ unsigned long long tile[Layout::elements];
    const int x = blockIdx.x * side + threadIdx.x;
    const int y = blockIdx.y * side + threadIdx.y;
    const unsigned block = blockIdx.x + blockIdx.y * gridDim.x;
    const unsigned stamp = watch.first_stamp + block;
    const unsigned warp = thread_of_block() / 32;
    const bool timed = block == watch.timed_block;
    const bool late_reader = watch.late_readers >> warp & 1;
    // Even a look at the clock changes who wins the race: the others go straight on.
    const bool watched = timed || late_reader;
    WarpTimes times;
    if (timed) times.began = clock_now();
    if (watch.late_writers >> warp & 1) spin(watch.delay);
    if (timed) times.woke = clock_now();
    const float value = level(pattern, x, y, width, height, ticks);
    tile[Layout::at(threadIdx.x, threadIdx.y)] =
        static_cast<unsigned long long>(stamp) << 32 | __float_as_uint(value);
    if (watched) times.arrived = clock_now();
    // Read after write between warps, as in `exchange`.
    if (Sync)
        __syncthreads();
    else
        keep_order();
    if (watched) {
        // A clock alone would not wait: the block's barrier holds a warp up only at an instruction
        // that is more than a read of a register (BAR.SYNC.DEFER_BLOCKING).
        __syncwarp();
        times.left = clock_now();
        if (late_reader) spin(watch.delay);
        times.resumed = clock_now();
    }
    const unsigned long long word =
        tile[Layout::at(side - 1 - threadIdx.x, side - 1 - threadIdx.y)];
    const bool inside = x < width && y < height;
    const bool stale = inside && static_cast<unsigned>(word >> 32) != stamp;
    if (inside) {
        const size_t place = static_cast<size_t>(y) * width + x;
        pixels[place] = colour(pattern, __uint_as_float(static_cast<unsigned>(word)));
        watch.stale_mask[place] = stale;
    }
    if (timed) times.ended = clock_now();
    times.multiprocessor = multiprocessor();
    count_hits(stale, watch.stale_count);
    if (timed && thread_of_block() % 32 == 0) watch.times[warp] = times;
}

#define RIPPLE_KERNEL(name, Layout, Sync, Bytes)                                       \
    extern "C" __global__ void name(Pixel* pixels, int width, int height, float ticks, \
                                    int pattern) {                                     \
        draw<Layout, Sync, Bytes>(pixels, width, height, ticks, pattern);              \
    }

RIPPLE_KERNEL(ripple_txty, ByColumn<16>, true, false)
RIPPLE_KERNEL(ripple_txty_nosync, ByColumn<16>, false, false)
RIPPLE_KERNEL(ripple_tytx, ByRow, true, false)
RIPPLE_KERNEL(ripple_tytx_nosync, ByRow, false, false)
RIPPLE_KERNEL(ripple_padded17, ByColumn<17>, true, false)
RIPPLE_KERNEL(ripple_padded17_nosync, ByColumn<17>, false, false)
RIPPLE_KERNEL(ripple_padded, ByColumn<18>, true, false)
RIPPLE_KERNEL(ripple_padded_nosync, ByColumn<18>, false, false)
RIPPLE_KERNEL(ripple_bytes, ByColumn<16>, true, true)
RIPPLE_KERNEL(ripple_bytes_nosync, ByColumn<16>, false, true)

extern "C" __global__ void ripple_stamped(Pixel* pixels, int width, int height, float ticks,
                                          int pattern, Watch watch) {
    draw_stamped<true>(pixels, width, height, ticks, pattern, watch);
}

extern "C" __global__ void ripple_stamped_nosync(Pixel* pixels, int width, int height, float ticks,
                                                 int pattern, Watch watch) {
    draw_stamped<false>(pixels, width, height, ticks, pattern, watch);
}

// Counts the pixels of `shown` that differ from `reference` and composes what is looked at:
// `shown` itself; `shown` dimmed with the wrong or the stale pixels in magenta; or `without` the
// barrier on the left and `with` it on the right. Blocks of 16x16.
extern "C" __global__ void compare(const Pixel* shown, const Pixel* reference, const Pixel* without,
                                   const Pixel* with, const unsigned char* stale, Pixel* picture,
                                   int width, int height, int view, unsigned* wrong_count) {
    const int x = blockIdx.x * side + threadIdx.x;
    const int y = blockIdx.y * side + threadIdx.y;
    bool wrong = false;
    if (x < width && y < height) {
        const size_t place = static_cast<size_t>(y) * width + x;
        Pixel pixel = shown[place];
        wrong = pixel != reference[place];
        if (view == split_view) {
            pixel = x < width / 2 ? without[place] : with[place];
        } else if (view != picture_view) {
            const bool marked = view == wrong_view ? wrong : stale[place];
            pixel = marked ? magenta : opaque | (pixel >> 2 & 0x3f3f3fu);
        }
        picture[place] = pixel;
    }
    count_hits(wrong, wrong_count);
}
