// Kernels as people write them with asynchronous copies, clusters and tensor cores, each with a twin
// in which one step is left out. In each, `out` is what a plain loop would compute.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
using Bar = unsigned long long;

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

// A cuda::pipeline of the block. KEPT: a stage is released when it has been read, not before.
template <bool KEPT>
__global__ void pipeline_of_block(const int* in, int* out) {
    __shared__ int ring[2][threads];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    const auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    const int t = threadIdx.x;
    const auto fetch = [&](int tile) {
        pipe.producer_acquire();
        if (tile < tiles)
            cuda::memcpy_async(&ring[tile % 2][t], &in[tile * threads + t], sizeof(int), pipe);
        pipe.producer_commit();
    };
    fetch(0);
    fetch(1);
    int sum = 0;
    for (int tile = 0; tile < tiles; ++tile) {
        pipe.consumer_wait();
        if (!KEPT) pipe.consumer_release();
        sum += ring[tile % 2][threads - 1 - t];
        if (KEPT) pipe.consumer_release();
        fetch(tile + 2);
    }
    out[t] = sum;
}

// A cuda::pipeline of each thread knows of its own copies only.
template <bool BARRIER>
__global__ void pipeline_of_thread(const int* in, int* out) {
    __shared__ int tile[threads];
    auto pipe = cuda::make_pipeline();
    const int t = threadIdx.x;
    pipe.producer_acquire();
    cuda::memcpy_async(&tile[t], &in[t], sizeof(int), pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    if (BARRIER) __syncthreads();
    out[t] = tile[threads - 1 - t];
    pipe.consumer_release();
}

// Cooperative Groups copies a tile with all threads of the block.
template <bool WAIT>
__global__ void copied_by_group(const int* in, int* out) {
    __shared__ int tile[threads];
    const auto block = cg::this_thread_block();
    cg::memcpy_async(block, tile, in, sizeof(tile));
    if (WAIT) cg::wait(block);
    out[block.thread_rank()] = tile[threads - 1 - block.thread_rank()];
    block.sync();
}

// Two tiles by Cooperative Groups: wait_prior<1>() leaves the newer one on its way.
template <bool OLDER>
__global__ void waits_for_older_tile(const int* in, int* out) {
    __shared__ int tile[2][threads];
    const auto block = cg::this_thread_block();
    cg::memcpy_async(block, tile[0], in, sizeof(tile[0]));
    cg::memcpy_async(block, tile[1], in + threads, sizeof(tile[1]));
    cg::wait_prior<1>(block);
    int sum = tile[OLDER ? 0 : 1][threads - 1 - block.thread_rank()];
    cg::wait(block);
    sum += tile[1][threads - 1 - block.thread_rank()];
    out[block.thread_rank()] = sum;
}

// A cuda::barrier counts the copies of the block.
template <bool WAIT>
__global__ void counted_by_barrier(const int* in, int* out) {
    __shared__ int tile[threads];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::barrier<cuda::thread_scope_block> ready;
    const auto block = cg::this_thread_block();
    if (block.thread_rank() == 0) init(&ready, block.size());
    block.sync();
    cuda::memcpy_async(block, tile, in, sizeof(tile), ready);
    auto token = ready.arrive();
    if (WAIT) ready.wait(std::move(token));
    out[block.thread_rank()] = tile[threads - 1 - block.thread_rank()];
    block.sync();
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

// A histogram whose bins lie in the shared memory of all blocks of a cluster, as in the CUDA
// Programming Guide. ZERO: all bins are zero before anybody counts.
template <bool ZERO>
__global__ void bins_of_cluster(const int* in, int* out) {
    extern __shared__ int bins[];
    const auto cluster = cg::this_cluster();
    constexpr int in_block = 8;
    if (threadIdx.x < in_block) bins[threadIdx.x] = 0;
    if (ZERO) cluster.sync();
    else __syncthreads();
    const int bin = in[blockIdx.x * threads + threadIdx.x] % (in_block * int(cluster.num_blocks()));
    atomicAdd(cluster.map_shared_rank(bins, bin / in_block) + bin % in_block, 1);
    cluster.sync();
    if (threadIdx.x < in_block) atomicAdd(&out[cluster.block_rank() * in_block + threadIdx.x],
                                          bins[threadIdx.x]);
}

// Block 0 gathers the sums of all blocks of the cluster.
template <bool SYNC>
__global__ void gathered(const int* in, int* out) {
    __shared__ int sum;
    const auto cluster = cg::this_cluster();
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, in[blockIdx.x * threads + threadIdx.x]);
    if (SYNC) cluster.sync();
    else __syncthreads();
    if (cluster.block_rank() == 0 && threadIdx.x == 0) {
        int all = 0;
        for (unsigned r = 0; r < cluster.num_blocks(); ++r) all += *cluster.map_shared_rank(&sum, r);
        out[0] = all;
    }
    cluster.sync();
}

// All blocks of the cluster add their numbers to a sum in block 0.
template <bool SYNC>
__global__ void added_at_a_distance(const int* in, int* out) {
    __shared__ int sum;
    const auto cluster = cg::this_cluster();
    if (threadIdx.x == 0) sum = 0;
    cluster.sync();
    atomicAdd(cluster.map_shared_rank(&sum, 0), in[blockIdx.x * threads + threadIdx.x]);
    if (SYNC) cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x == 0) out[0] = sum;
    cluster.sync();
}

// Numbers go round the blocks of a cluster by st.async, one step in each round. Two slots: the
// neighbour may be one round ahead. PARITY: a round waits for its own phase.
template <bool PARITY>
__global__ void round_the_ring(const int* in, int* out) {
    __shared__ int slot[2][threads];
    __shared__ Bar full[2];
    const auto cluster = cg::this_cluster();
    const int t = threadIdx.x;
    if (t == 0) {
        for (int s = 0; s < 2; ++s) ptx::mbarrier_init(&full[s], 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    cluster.sync();
    const unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
    int value = in[blockIdx.x * threads + t], sum = value;
    for (unsigned round = 0; round + 1 < cluster.num_blocks(); ++round) {
        const unsigned s = round % 2;
        if (t == 0)
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                           &full[s], sizeof(slot[s]));
        ptx::st_async(cluster.map_shared_rank(&slot[s][t], next), value,
                      cluster.map_shared_rank(&full[s], next));
        while (!ptx::mbarrier_try_wait_parity(&full[s], (PARITY ? round / 2 : 1) & 1)) {}
        value = slot[s][t];
        sum += value;
        cluster.sync();
    }
    out[blockIdx.x * threads + t] = sum;
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
