// Kernels as people write them with asynchronous copies and tensor cores, each with a twin in which
// one step is left out. In each, `out` is what a plain loop would compute.
#include <cuda/ptx>
#include <cuda_pipeline.h>
namespace ptx = cuda::ptx;
using Bar = uint64_t;

constexpr int threads = 64, tiles = 6;

// A main loop of three stages, as in matrix products by cp.async: two tiles are on their way while
// one is read. out[t] is the sum of element 63 - t of all tiles.
template <bool BARRIER>
__global__ void three_stages(const int* in, int* out) {
    constexpr int stages = 3;
    __shared__ int ring[stages][threads];
    const int t = threadIdx.x;
    const auto fetch = [&](int tile) {
        if (tile < tiles)
            __pipeline_memcpy_async(&ring[tile % stages][t], &in[tile * threads + t], 4);
        __pipeline_commit();  // an empty group keeps the count
    };
    for (int tile = 0; tile < stages - 1; ++tile) fetch(tile);
    int sum = 0;
    for (int tile = 0; tile < tiles; ++tile) {
        __pipeline_wait_prior(stages - 2);
        if (BARRIER) __syncthreads();  // all copies of the tile; and nobody reads the one before
        fetch(tile + stages - 1);
        sum += ring[tile % stages][threads - 1 - t];
    }
    out[t] = sum;
}

// A loop of two stages. ALL: it waits for the tile that it reads.
template <bool ALL>
__global__ void waits_for_groups(const int* in, int* out) {
    __shared__ int ring[2][threads];
    const int t = threadIdx.x;
    int sum = 0;
    __pipeline_memcpy_async(&ring[0][t], &in[t], 4);
    __pipeline_commit();
    for (int tile = 0; tile < tiles; ++tile) {
        if (tile + 1 < tiles)
            __pipeline_memcpy_async(&ring[(tile + 1) % 2][t], &in[(tile + 1) * threads + t], 4);
        __pipeline_commit();
        __pipeline_wait_prior(ALL ? 1 : 2);
        __syncthreads();
        sum += ring[tile % 2][threads - 1 - t];
        __syncthreads();
    }
    out[t] = sum;
}

// A producer warp fills two stages by bulk copies; two consumer warps give them back. EMPTY: the
// producer waits until a stage is empty.
template <bool EMPTY>
__global__ void specialised_warps(const int* in, int* out) {
    __shared__ alignas(128) int ring[2][threads];
    __shared__ Bar full[2], empty[2];
    const int t = threadIdx.x;
    if (t == 0) {
        for (int s = 0; s < 2; ++s) {
            ptx::mbarrier_init(&full[s], 1);
            ptx::mbarrier_init(&empty[s], threads);
        }
        ptx::fence_proxy_async(ptx::space_shared);
    }
    __syncthreads();
    if (t >= threads) {
        if (t > threads) return;
        for (int tile = 0; tile < tiles; ++tile) {
            const int s = tile % 2;
            if (EMPTY && tile >= 2)
                while (!ptx::mbarrier_try_wait_parity(&empty[s], (tile / 2 - 1) & 1)) {}
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                           &full[s], sizeof(ring[s]));
            ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, ring[s], in + tile * threads,
                               sizeof(ring[s]), &full[s]);
        }
        return;
    }
    int sum = 0;
    for (int tile = 0; tile < tiles; ++tile) {
        const int s = tile % 2;
        while (!ptx::mbarrier_try_wait_parity(&full[s], tile / 2 & 1)) {}
        sum += ring[s][threads - 1 - t];
        ptx::mbarrier_arrive(&empty[s]);
    }
    out[t] = sum;
}

// Results leave by bulk copies, while the next ones are computed into one tile.
template <bool WAIT>
__global__ void stored_in_bulk(const int* in, int* out) {
    __shared__ alignas(128) int tile[threads];
    const int t = threadIdx.x;
    for (int k = 0; k < tiles; ++k) {
        tile[t] = in[k * threads + t] * 2;
        ptx::fence_proxy_async(ptx::space_shared);
        __syncthreads();
        if (t == 0) {
            ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + k * threads, tile,
                               sizeof(tile));
            ptx::cp_async_bulk_commit_group();
            if (WAIT) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
        }
        __syncthreads();
    }
    if (t == 0) ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
}

// A product of 16x16 and 8x16 halves by one warp: cp.async, ldmatrix and mma.sync. out[row * 8 +
// column] is the product of row `row` of a and row `column` of b.
template <bool WAIT>
__global__ void small_product(const unsigned short* a, const unsigned short* b, float* out) {
    __shared__ alignas(16) unsigned short rows[24][16];
    const int lane = threadIdx.x;
    const auto fetch = [&](int row, const unsigned short* from) {
        for (int half = 0; half < 2; ++half)
            __pipeline_memcpy_async(&rows[row][8 * half], from + 8 * half, 16);
    };
    if (lane < 16) fetch(lane, a + 16 * lane);
    else if (lane < 24) fetch(lane, b + 16 * (lane - 16));
    __pipeline_commit();
    if (WAIT) __pipeline_wait_prior(0);
    __syncwarp();
    unsigned of_a[4], of_b[2];
    const auto address = [](const void* p) { return unsigned(__cvta_generic_to_shared(p)); };
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(of_a[0]), "=r"(of_a[1]), "=r"(of_a[2]), "=r"(of_a[3])
                 : "r"(address(&rows[lane % 16][lane / 16 * 8])) : "memory");
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(of_b[0]), "=r"(of_b[1])
                 : "r"(address(&rows[16 + lane % 8][lane / 8 % 2 * 8])) : "memory");
    float sum[4] = {};
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(of_a[0]), "r"(of_a[1]), "r"(of_a[2]), "r"(of_a[3]), "r"(of_b[0]), "r"(of_b[1]));
    for (int k = 0; k < 4; ++k)
        out[(lane / 4 + k / 2 * 8) * 8 + lane % 4 * 2 + k % 2] = sum[k];
    if (!WAIT) __pipeline_wait_prior(0);
}

// A hundred mbarriers: each counts a copy of one word of the block. SEEN: a thread waits for that of
// the word that it reads.
template <bool SEEN>
__global__ void hundred_mbarriers(const int* in, int* out) {
    constexpr int count = 100;
    __shared__ alignas(16) int tile[count][4];
    __shared__ Bar full[count];
    const int t = threadIdx.x;
    if (t == 0) {
        for (int k = 0; k < count; ++k) ptx::mbarrier_init(&full[k], 1);
        ptx::fence_proxy_async(ptx::space_shared);
        for (int k = 0; k < count; ++k) {
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                           &full[k], sizeof(tile[k]));
            ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile[k], in + 4 * k,
                               sizeof(tile[k]), &full[k]);
        }
    }
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < count; ++k) {
        while (!ptx::mbarrier_try_wait_parity(&full[SEEN || k < 90 ? k : 70], 0)) {}
        sum += tile[k][t % 4];
    }
    out[t] = sum;
}
