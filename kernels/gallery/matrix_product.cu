// A product of matrices by tensor cores (mma.sync, from sm_80 on): pixel (x, y) shows the product of
// row y of matrix a and row x of matrix b, 64 numbers of 16 bits each. A block stores 64 rows of each
// in shared memory, and ldmatrix loads 8x8 of them at a time: 16 bytes of each of eight rows.
//
// A row has 128 bytes, as many as the 32 banks together. Without the swizzle the 16 bytes of all
// eight rows lie in the same four banks, and are read one after the other. The swizzle moves the
// eight chunks of a row: chunk c of row r lies where chunk c ^ (r % 8) was, so that ldmatrix reads
// eight chunks in 32 banks. The counters show the bank conflicts of `swizzle` = 0.
//
// With `barrier` = 0 warps read rows that other warps have not stored: THAT IS RACY ON PURPOSE.

using Pixel = unsigned;  // 4 bytes: red lowest, then green, blue and alpha

constexpr int threads = 128;
constexpr int depth = 64;         // numbers of a row
constexpr int chunks = 8;         // of a row, 16 bytes each: 8 numbers
constexpr int side = 64;          // of the square that a block draws
constexpr int rows_of_warp = 16;  // of this square: as many as mma.sync multiplies

// From 0 to 255 and back in 256 steps, like a sine. It uses integers only, so every device computes
// the same values.
__device__ int wave(int angle) {
    const int up = angle & 128 ? 127 - (angle & 127) : angle & 127;
    return up * up * (384 - 2 * up) >> 13;
}

// A whole number as a half.
__device__ unsigned half_of(int number) {
    unsigned short bits;
    asm("cvt.rn.f16.s32 %0, %1;" : "=h"(bits) : "r"(number));
    return bits;
}

// Number k of row i, from -8 to 7: waves of four lengths.
__device__ int number(int i, int k, int tick) {
    return wave(i * (k % 4 + 1) / 2 + 19 * k + (k & 4 ? tick : 0)) / 16 - 8;
}

// Fills a and b; a word has two numbers. All rows of the blocks' squares exist.
extern "C" __global__ void matrices(unsigned* a, unsigned* b, int width, int height, float time) {
    const int tick = __float2int_rn(60.0f * time);
    const int word = blockIdx.x * blockDim.x + threadIdx.x;
    const int i = word / (depth / 2), k = word % (depth / 2) * 2;
    const auto words = [&](int t) {
        return half_of(number(i, k, t)) | half_of(number(i, k + 1, t)) << 16;
    };
    if (i < (height + side - 1) / side * side) a[word] = words(tick);
    if (i < (width + side - 1) / side * side) b[word] = words(-tick);
}

// The chunk of a tile in shared memory.
__device__ int place(int row, int chunk, int swizzle) {
    return row * chunks + (swizzle ? chunk ^ row % 8 : chunk);
}

// Loads four matrices of 8x8 numbers; lane l gives the address of a row of matrix l / 8.
__device__ void load_matrices(unsigned (&to)[4], const uint4* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(unsigned(__cvta_generic_to_shared(row)))
                 : "memory");
}

// sum += a * b, of 16x16 and 16x8 numbers.
__device__ void multiply(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ Pixel colour(float sum) {
    const int light = min(abs(int(sum)) / 6, 255);
    const int blue = sum < 0 ? light : light * light >> 8;
    const int red = sum < 0 ? light * light >> 8 : light;
    return 0xff000000u | blue << 16 | (light * light >> 9) << 8 | red;
}

extern "C" __global__ void matrix_product(Pixel* pixels, const unsigned* a, const unsigned* b,
                                          int width, int height, int swizzle, int barrier) {
    __shared__ uint4 tile_a[side * chunks], tile_b[side * chunks];
    const int left = blockIdx.x * side, top = blockIdx.y * side;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int i = threadIdx.x; i < side * chunks; i += threads) {
        const int to = place(i / chunks, i % chunks, swizzle);
        tile_a[to] = reinterpret_cast<const uint4*>(a)[top * chunks + i];
        tile_b[to] = reinterpret_cast<const uint4*>(b)[left * chunks + i];
    }
    // Removes a read-after-write hazard: a warp reads rows that all four warps have stored.
    if (barrier) __syncthreads();

    float sums[side / 8][4] = {};  // of 16 rows and 64 columns
    for (int k = 0; k < chunks; k += 2) {
        unsigned rows[4], columns[4];
        load_matrices(rows, &tile_a[place(warp * rows_of_warp + lane % 16, k + lane / 16, swizzle)]);
#pragma unroll
        for (int n = 0; n < side / 8; n += 2) {
            const int row = n * 8 + lane % 8 + lane / 16 * 8;
            load_matrices(columns, &tile_b[place(row, k + lane / 8 % 2, swizzle)]);
            multiply(sums[n], rows, columns[0], columns[1]);
            multiply(sums[n + 1], rows, columns[2], columns[3]);
        }
    }
#pragma unroll
    for (int n = 0; n < side / 8; ++n)
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const int x = left + n * 8 + lane % 4 * 2 + k % 2;
            const int y = top + warp * rows_of_warp + lane / 4 + k / 2 * 8;
            if (x < width && y < height) pixels[y * width + x] = colour(sums[n][k]);
        }
}
