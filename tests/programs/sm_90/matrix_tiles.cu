// Tiles of 32 rows of 128 bytes, plain and swizzled, under ldmatrix, stmatrix, cp.async and a product
// of matrices. Of a plain tile, the rows of a matrix of ldmatrix lie in the same banks. In a swizzled
// one, the chunk of 16 bytes `c` of row r lies at chunk c ^ r % 8, and 8 rows take all banks.
//
// The host program launches each kernel once, so that Nsight Compute counts what the emulator does:
// ncu ./matrix_tiles, and warpscope --counters -- ./matrix_tiles.
#include <cstdio>

constexpr int rows = 32, row_bytes = 128, chunk = 16, tile_bytes = rows * row_bytes;
constexpr int blocks = 4, warps = 2, threads = 32 * warps;

template <bool swizzles>
__device__ unsigned place(unsigned row, unsigned column) {  // a chunk, as an offset
    return row * row_bytes + (swizzles ? column ^ row % 8 : column) * chunk;
}

__device__ unsigned address_of(const void* p) { return unsigned(__cvta_generic_to_shared(p)); }

// Loads all chunks of the tile, `matrices` in each instruction: lane k gives row k % 32.
template <int matrices, bool swizzles>
__device__ void load_matrices(unsigned* out) {
    __shared__ alignas(128) unsigned char tile[tile_bytes];
    for (int k = threadIdx.x; k < tile_bytes / 4; k += threads)
        reinterpret_cast<unsigned*>(tile)[k] = k;
    __syncthreads();
    const unsigned lane = threadIdx.x % 32, base = address_of(tile);
    unsigned sum = 0;
    for (unsigned column = 0; column < row_bytes / chunk; ++column) {
        const unsigned at = base + place<swizzles>(lane % (8 * matrices), column);
        unsigned a = 0, b = 0, c = 0, d = 0;
        if (matrices == 1)
            asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(a) : "r"(at));
        if (matrices == 2)
            asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                         : "=r"(a), "=r"(b)
                         : "r"(at));
        if (matrices == 4)
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                         : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                         : "r"(at));
        sum += a + b + c + d;
    }
    out[blockIdx.x * threads + threadIdx.x] = sum;
}

template <bool swizzles>
__device__ void store_matrices(unsigned* out) {
    __shared__ alignas(128) unsigned char tile[warps][tile_bytes];
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, base = address_of(tile[warp]);
    for (unsigned column = 0; column < row_bytes / chunk; ++column)
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %1, %1, %1};" ::"r"(
                         base + place<swizzles>(lane, column)),
                     "r"(lane + column)
                     : "memory");
    __syncwarp();
    out[blockIdx.x * threads + threadIdx.x] = reinterpret_cast<unsigned*>(tile[warp])[lane];
}

// Each lane copies `bytes` bytes, 16 times, into words that follow each other.
template <int bytes>
__device__ void copy(const unsigned char* in, unsigned* out) {
    __shared__ alignas(128) unsigned char tile[16 * threads * bytes];
    for (unsigned k = 0; k < 16; ++k) {
        const unsigned offset = (k * threads + threadIdx.x) * bytes;
        const unsigned to = address_of(tile + offset);
        const unsigned char* from = in + offset;
        if (bytes == 16)
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
        else
            asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(bytes)
                         : "memory");
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    out[blockIdx.x * threads + threadIdx.x] = reinterpret_cast<unsigned*>(tile)[threadIdx.x];
}

// Copies a tile by rows of 8 chunks, and loads it by ldmatrix: both ways have an opinion of it.
// D = A x B of 16 x 64 and 64 x 8 halves, which a warp loads from its tile.
template <bool swizzles>
__device__ void multiply(const unsigned char* in, float* out) {
    __shared__ alignas(128) unsigned char tile[warps][tile_bytes];
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, base = address_of(tile[warp]);
    for (unsigned k = 0; k < rows * row_bytes / chunk / 32; ++k) {
        const unsigned row = k * 4 + lane / 8, column = lane % 8;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                         base + place<swizzles>(row, column)),
                     "l"(in + row * row_bytes + column * chunk)
                     : "memory");
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncwarp();
    float d[4] = {};
    for (unsigned k = 0; k < 4; ++k) {  // 16 of the 64 columns of A
        unsigned a[4], b[2];
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                     : "r"(base + place<swizzles>(lane % 16, 2 * k + lane / 16)));
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                     : "=r"(b[0]), "=r"(b[1])
                     : "r"(base + place<swizzles>(16 + lane % 8, 2 * k + lane / 8 % 2)));
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
            "{%8, %9}, {%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
    for (int k = 0; k < 4; ++k) out[(blockIdx.x * threads + threadIdx.x) * 4 + k] = d[k];
}

extern "C" {
__global__ void load_x1_plain(unsigned* out) { load_matrices<1, false>(out); }
__global__ void load_x1_swizzled(unsigned* out) { load_matrices<1, true>(out); }
__global__ void load_x2_plain(unsigned* out) { load_matrices<2, false>(out); }
__global__ void load_x2_swizzled(unsigned* out) { load_matrices<2, true>(out); }
__global__ void load_x4_plain(unsigned* out) { load_matrices<4, false>(out); }
__global__ void load_x4_swizzled(unsigned* out) { load_matrices<4, true>(out); }
__global__ void store_x4_plain(unsigned* out) { store_matrices<false>(out); }
__global__ void store_x4_swizzled(unsigned* out) { store_matrices<true>(out); }
__global__ void copy_4(const unsigned char* in, unsigned* out) { copy<4>(in, out); }
__global__ void copy_8(const unsigned char* in, unsigned* out) { copy<8>(in, out); }
__global__ void copy_16(const unsigned char* in, unsigned* out) { copy<16>(in, out); }
__global__ void multiply_plain(const unsigned char* in, float* out) { multiply<false>(in, out); }
__global__ void multiply_swizzled(const unsigned char* in, float* out) { multiply<true>(in, out); }
}

int main() {
    unsigned* out;
    unsigned char* in;
    cudaMalloc(&in, 16384);
    cudaMalloc(&out, blocks * threads * 16);
    cudaMemset(in, 0, 16384);
    load_x1_plain<<<blocks, threads>>>(out);
    load_x1_swizzled<<<blocks, threads>>>(out);
    load_x2_plain<<<blocks, threads>>>(out);
    load_x2_swizzled<<<blocks, threads>>>(out);
    load_x4_plain<<<blocks, threads>>>(out);
    load_x4_swizzled<<<blocks, threads>>>(out);
    store_x4_plain<<<blocks, threads>>>(out);
    store_x4_swizzled<<<blocks, threads>>>(out);
    copy_4<<<blocks, threads>>>(in, out);
    copy_8<<<blocks, threads>>>(in, out);
    copy_16<<<blocks, threads>>>(in, out);
    multiply_plain<<<blocks, threads>>>(in, (float*)out);
    multiply_swizzled<<<blocks, threads>>>(in, (float*)out);
    std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
