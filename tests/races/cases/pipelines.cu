// Kernels as people write them with cooperative groups, cuda::barrier and cuda::pipeline, each with a twin
// in which one step is left out. In each, `out` is what a plain loop would compute.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
using Bar = uint64_t;

constexpr int threads = 64, tiles = 6;

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
