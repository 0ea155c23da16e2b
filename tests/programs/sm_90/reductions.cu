// Reductions by asynchronous copies: red.async and cp.reduce.async.bulk into the shared memory of the
// other block of a cluster, cp.reduce.async.bulk into global memory with each operation and type, and
// cp.reduce.async.bulk.tensor. Boxes of three to five dimensions, which one copy moves to both blocks.
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <cstring>

#include "../book.h"

constexpr int words = 64;  // of a tile

__device__ unsigned shared_address(const void* p) { return unsigned(__cvta_generic_to_shared(p)); }

__device__ unsigned in_other_block(unsigned address) {
    unsigned there;
    asm("{.reg .b32 r; mov.u32 r, %%cluster_ctarank; xor.b32 r, r, 1; mapa.shared::cluster.u32 %0, %1, r;}"
        : "=r"(there)
        : "r"(address));
    return there;
}

__device__ void cluster_sync() {
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
}

__device__ void wait(unsigned mbarrier, unsigned parity) {
    asm volatile(
        "{.reg .pred p; AGAIN: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;"
        "@!p bra AGAIN;}" ::"r"(mbarrier),
        "r"(parity)
        : "memory");
}

__device__ void init(unsigned mbarrier, unsigned count, unsigned bytes) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(mbarrier), "r"(count));
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(mbarrier), "r"(bytes));
    asm volatile("fence.mbarrier_init.release.cluster; fence.proxy.async.shared::cta;" ::: "memory");
}

#define RED(op, type, letter, to, value, mbarrier)                                                \
    asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes." #op    \
                 "." #type " [%0], %1, [%2];" ::"r"(to),                                          \
                 letter(value), "r"(mbarrier)                                                     \
                 : "memory")

// Each thread of a block joins numbers with those of the other block: one word for each operation.
__global__ void __cluster_dims__(2) red_async(unsigned* out) {
    __shared__ alignas(16) unsigned all[16];
    __shared__ alignas(8) std::uint64_t full;
    const unsigned t = threadIdx.x, mbarrier = shared_address(&full);
    if (t < 16) all[t] = t == 10 || t == 11 || t == 1 ? ~0u : 0;
    if (t == 0) init(mbarrier, 1, blockDim.x * (10 * 4 + 2 * 8));
    cluster_sync();
    const unsigned to = in_other_block(shared_address(all)), there = in_other_block(mbarrier);
    const unsigned number = (t + 1) * 2654435761u + blockIdx.x;
    RED(add, u32, "r", to, number, there);
    RED(min, u32, "r", to + 4, number, there);
    RED(max, u32, "r", to + 8, number, there);
    RED(add, s32, "r", to + 12, -int(t), there);
    RED(min, s32, "r", to + 16, int(number), there);
    RED(max, s32, "r", to + 20, int(number), there);
    RED(inc, u32, "r", to + 24, 20u, there);
    RED(dec, u32, "r", to + 28, 20u, there);
    RED(or, b32, "r", to + 36, 1u << (t & 31), there);
    RED(and, b32, "r", to + 40, ~(1u << (t & 15)), there);
    RED(add, u64, "l", to + 48, 0x1'0000'0001ull * number, there);
    RED(add, s64, "l", to + 56, -(long long)number, there);
    wait(mbarrier, 0);
    cluster_sync();
    if (t < 16) out[blockIdx.x * 16 + t] = all[t];
}

// Adds a tile to that of the other block, and joins the minima.
__global__ void __cluster_dims__(2) reduce_in_cluster(unsigned* out) {
    __shared__ alignas(16) unsigned own[words], sums[words], least[words];
    __shared__ alignas(8) std::uint64_t full;
    const unsigned t = threadIdx.x, mbarrier = shared_address(&full);
    own[t] = t * 3 + blockIdx.x * 100, sums[t] = 1000, least[t] = 50;
    if (t == 0) init(mbarrier, 1, 2 * words * 4);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    cluster_sync();
    if (t == 0) {
        const unsigned there = in_other_block(mbarrier), from = shared_address(own);
        asm volatile(
            "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 "
            "[%0], [%1], %2, [%3];" ::"r"(in_other_block(shared_address(sums))),
            "r"(from), "n"(words * 4), "r"(there)
            : "memory");
        asm volatile(
            "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.min.s32 "
            "[%0], [%1], %2, [%3];" ::"r"(in_other_block(shared_address(least))),
            "r"(from), "n"(words * 4), "r"(there)
            : "memory");
    }
    wait(mbarrier, 0);
    out[blockIdx.x * words + t] = sums[t] * 1000 + least[t];
    cluster_sync();
}

// A block joins 64 bytes with those of a row of `out`, one row for each operation.
#define INTO(row, op)                                                                            \
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." #op " [%0], [%1], 64;" :: \
                     "l"(out + row * 16),                                                        \
                 "r"(from)                                                                       \
                 : "memory")
constexpr int rows = 21;
__global__ void reduce(unsigned* out, const unsigned* in) {
    __shared__ alignas(16) unsigned tile[16];
    if (threadIdx.x < 16) tile[threadIdx.x] = in[blockIdx.x * 16 + threadIdx.x];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x) return;
    const unsigned from = shared_address(tile);
    INTO(0, add.u32);
    INTO(1, add.s32);
    INTO(2, add.u64);
    INTO(3, min.u32);
    INTO(4, min.s32);
    INTO(5, min.u64);
    INTO(6, min.s64);
    INTO(7, max.u32);
    INTO(8, max.s64);
    INTO(9, inc.u32);
    INTO(10, dec.u32);
    INTO(11, and.b32);
    INTO(12, or.b32);
    INTO(13, xor.b64);
    INTO(14, add.f32);
    INTO(15, add.f64);
    INTO(16, add.noftz.f16);
    INTO(17, add.noftz.bf16);
    INTO(18, min.f16);
    INTO(19, max.f16);
    INTO(20, min.bf16);
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}

// Copies a box of five dimensions to both blocks, adds it to that of another tensor.
template <int dimensions>
__global__ void __cluster_dims__(2) boxes(const __grid_constant__ CUtensorMap from,
                                          const __grid_constant__ CUtensorMap to, int bytes,
                                          unsigned* out) {
    __shared__ alignas(1024) unsigned box[256];
    __shared__ alignas(8) std::uint64_t full;
    const unsigned t = threadIdx.x, mbarrier = shared_address(&full), at = shared_address(box);
    if (t == 0) init(mbarrier, 1, bytes);
    cluster_sync();
    const unsigned short both = 3;
    if (t == 0 && blockIdx.x == 0) {
#define MULTICAST(dim, coordinates)                                                                 \
    asm volatile("cp.async.bulk.tensor." dim                                                        \
                 ".shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], "   \
                 "[%1, " coordinates "], [%2], %3;" ::"r"(at),                                      \
                 "l"(&from), "r"(mbarrier), "h"(both), "r"(0), "r"(1)                               \
                 : "memory")
        if (dimensions == 3) MULTICAST("3d", "{%4, %5, %5}");
        if (dimensions == 4) MULTICAST("4d", "{%4, %5, %5, %4}");
        if (dimensions == 5) MULTICAST("5d", "{%4, %5, %4, %5, %5}");
    }
    wait(mbarrier, 0);
    for (int k = t; k < bytes / 4; k += blockDim.x) out[blockIdx.x * 256 + k] = box[k];
    if (t == 0) {
#define ADD(dim, coordinates)                                                                     \
    asm volatile("cp.reduce.async.bulk.tensor." dim ".global.shared::cta.add.tile.bulk_group [%0, " \
                 coordinates "], [%1];" ::"l"(&to),                                               \
                 "r"(at), "r"(0), "r"(1)                                                          \
                 : "memory")
        if (dimensions == 3) ADD("3d", "{%2, %3, %3}");
        if (dimensions == 4) ADD("4d", "{%2, %3, %3, %2}");
        if (dimensions == 5) ADD("5d", "{%2, %3, %2, %3, %3}");
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
    }
    cluster_sync();
}

// Arrivals that drop out and do not end the phase: two of three, and one of the next phase.
__global__ void drop(unsigned* out) {
    __shared__ alignas(8) std::uint64_t barrier;
    const unsigned mbarrier = shared_address(&barrier);
    [[maybe_unused]] std::uint64_t state;
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 3;" ::"r"(mbarrier));
    asm volatile("mbarrier.arrive_drop.noComplete.release.cta.shared::cta.b64 %0, [%1], 2;"
                 : "=l"(state)
                 : "r"(mbarrier));
    for (int phase = 0; phase < 2; ++phase) {
        unsigned ended;
        asm volatile(
            "{.reg .pred p; mbarrier.arrive.shared::cta.b64 _, [%1];"
            "mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
            : "=r"(ended)
            : "r"(mbarrier), "r"(phase));
        out[phase] = ended;
    }
}

using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*,
                            const cuuint64_t*, const cuuint64_t*, const cuuint32_t*,
                            const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                            CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
Encode encode;

constexpr int side = 4;  // of each dimension of a tensor but the first, which has 8 elements

CUtensorMap map_of(unsigned* memory, int dimensions) {
    cuuint64_t size[5], stride[4], step = 8 * 4;
    cuuint32_t box[5], steps[5];
    for (int d = 0; d < dimensions; ++d) {
        size[d] = d ? side : 8, box[d] = d ? 2 : 8, steps[d] = 1;
        if (d < dimensions - 1) stride[d] = step, step *= side;
    }
    CUtensorMap map;
    encode(&map, CU_TENSOR_MAP_DATA_TYPE_UINT32, dimensions, memory, size, stride, box, steps,
           CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
           CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return map;
}

unsigned hash(const unsigned* words, int count) {
    unsigned h = 2166136261u;
    for (int k = 0; k < count; ++k) h = (h ^ words[k]) * 16777619u;
    return h;
}

template <int dimensions>
void run_boxes(unsigned* tensor, unsigned* sums, unsigned* out) {
    int bytes = 8 * 4;
    for (int d = 1; d < dimensions; ++d) bytes *= 2;
    std::memset(sums, 0, 2048 * 4);
    boxes<dimensions><<<2, 32>>>(map_of(tensor, dimensions), map_of(sums, dimensions), bytes, out);
    HANDLE_ERROR(cudaDeviceSynchronize());
    unsigned twice = 0;
    for (int k = 0; k < 2048; ++k) twice += sums[k];
    std::printf("%d dimensions: %08x %d %08x %u\n", dimensions, hash(out, bytes / 4),
                std::memcmp(out, out + 256, bytes), hash(sums, 2048), twice);
}

int main() {
    cudaDriverEntryPointQueryResult found;
    HANDLE_ERROR(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void**)&encode, 12000,
                                                  cudaEnableDefault, &found));
    unsigned *out, *in, *tensor, *sums;
    HANDLE_ERROR(cudaMallocManaged(&out, 4096 * 4));
    HANDLE_ERROR(cudaMallocManaged(&in, 4096 * 4));
    HANDLE_ERROR(cudaMallocManaged(&tensor, 2048 * 4));
    HANDLE_ERROR(cudaMallocManaged(&sums, 2048 * 4));
    red_async<<<2, 64>>>(out);
    HANDLE_ERROR(cudaDeviceSynchronize());
    for (int block = 0; block < 2; ++block)
        for (int k = 0; k < 16; ++k)
            std::printf("%08x%c", out[block * 16 + k], k == 15 ? '\n' : ' ');
    reduce_in_cluster<<<2, words>>>(out);
    HANDLE_ERROR(cudaDeviceSynchronize());
    std::printf("%08x %u %u\n", hash(out, 2 * words), out[1], out[words + 63]);
    // Small numbers of each type, whose sums are exact in any order; they are positive.
    const auto fill = [](unsigned* to, int row, int column, int number) {
        double wide = number;
        float real = float(number);
        __half2 halves(__float2half(real), __float2half(real + 1));
        __nv_bfloat162 shorts(__float2bfloat16(real), __float2bfloat16(real + 1));
        unsigned whole = unsigned(number);
        if (row == 14) std::memcpy(&whole, &real, 4);
        if (row == 15) std::memcpy(&whole, reinterpret_cast<char*>(&wide) + column % 2 * 4, 4);
        if (row == 16 || row == 18 || row == 19) std::memcpy(&whole, &halves, 4);
        if (row == 17 || row == 20) std::memcpy(&whole, &shorts, 4);
        to[column] = whole;
    };
    for (int row = 0; row < rows; ++row) {
        for (int k = 0; k < 16; ++k) {
            const int base = row == 15 ? k / 2 * 2 : k;
            const bool is_counter = row == 9 || row == 10;  // whose result depends on the order
            for (int block = 0; block < 4; ++block)
                fill(in + block * 16, row, k, is_counter ? 30 : (base * 7 + block * 5) % 23 + 1);
            fill(out + row * 16, row, k, 12);
        }
        // Only this row's operation has numbers of its type: the others have copies of their own.
        unsigned copy[rows * 16];
        std::memcpy(copy, out, sizeof(copy));
        reduce<<<4, 32>>>(out, in);
        HANDLE_ERROR(cudaDeviceSynchronize());
        unsigned result[16];
        std::memcpy(result, out + row * 16, 64);
        std::memcpy(out, copy, sizeof(copy));
        std::printf("%d: %08x %08x %08x\n", row, result[0], result[5], hash(result, 16));
    }
    for (int k = 0; k < 2048; ++k) tensor[k] = k + 1;
    run_boxes<3>(tensor, sums, out);
    run_boxes<4>(tensor, sums, out);
    run_boxes<5>(tensor, sums, out);
    drop<<<1, 1>>>(out);
    HANDLE_ERROR(cudaDeviceSynchronize());
    std::printf("%u %u\n", out[0], out[1]);
}
