#include <cuda/ptx>
#include "cluster_group.h"

// Kernels that hang: each waits for a phase that never ends. HANGS is false for the repaired one.

namespace ptx = cuda::ptx;
using Bar = uint64_t;

__device__ void wait(Bar* bar, unsigned parity) {
    while (!ptx::mbarrier_try_wait_parity(bar, parity)) {}
}
__device__ void arrive(Bar* bar) {
    ptx::mbarrier_arrive(bar);
}
__device__ void announce(Bar* bar, unsigned bytes) {
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, bar, bytes);
}
__device__ void copy(int* tile, const int* in, unsigned bytes, Bar* bar) {
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, in, bytes, bar);
}

// One lane arrives for its warp at a barrier that counts all threads.
template <bool HANGS>
__global__ void one_lane_arrives(int* out) {
    __shared__ int tile[64];
    __shared__ Bar full;
    if (threadIdx.x == 0) ptx::mbarrier_init(&full, 64);
    __syncthreads();
    tile[threadIdx.x] = threadIdx.x;
    if (!HANGS || threadIdx.x % 32 == 0) arrive(&full);
    wait(&full, 0);
    out[threadIdx.x] = tile[63 - threadIdx.x];
}

// The producer waits for the phase of the empty barrier that the consumer ends only later: in the first
// round the stage is empty, which a wait for the phase before the first one, of parity 1, would say.
template <bool HANGS>
__global__ void parity_off_by_one(int* out) {
    __shared__ int tile[32];
    __shared__ Bar full, empty;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&full, 32);
        ptx::mbarrier_init(&empty, 32);
    }
    __syncthreads();
    const int lane = threadIdx.x % 32;
    int sum = 0;
    for (int k = 0; k < 3; ++k)
        if (threadIdx.x >= 32) {
            while (!ptx::mbarrier_test_wait_parity(&empty, HANGS ? k & 1 : ~k & 1)) {}
            tile[lane] = k;
            ptx::mbarrier_arrive(&full);
        } else {
            while (!ptx::mbarrier_test_wait_parity(&full, k & 1)) {}
            sum += tile[31 - lane];
            ptx::mbarrier_arrive(&empty);
        }
    out[threadIdx.x] = sum;
}

// The tile has 256 bytes; BYTES are announced.
template <int BYTES>
__global__ void announced(const int* in, int* out) {
    __shared__ alignas(16) int tile[64];
    __shared__ Bar full;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&full, 1);
        ptx::fence_proxy_async(ptx::space_shared);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        announce(&full, BYTES);
        copy(tile, in, 256, &full);
    }
    wait(&full, 0);
    out[threadIdx.x] = tile[threadIdx.x];
}

// A ring of two stages. The consumer waits for the full barrier of the stage behind its own one.
template <bool HANGS>
__global__ void wrong_stage(const int* in, int* out) {
    __shared__ alignas(16) int tile[2][32];
    __shared__ Bar full[2], empty[2];
    if (threadIdx.x == 0) {
        for (int s = 0; s < 2; ++s) {
            ptx::mbarrier_init(&full[s], 1);
            ptx::mbarrier_init(&empty[s], 32);
        }
        ptx::fence_proxy_async(ptx::space_shared);
    }
    __syncthreads();
    if (threadIdx.x >= 32) {
        if (threadIdx.x != 32) return;
        for (int k = 0; k < 3; ++k) {
            int s = k % 2;
            if (k >= 2) wait(&empty[s], 0);
            announce(&full[s], 128);
            copy(tile[s], in + k * 32, 128, &full[s]);
        }
    } else {
        int sum = 0;
        for (int k = 0; k < 3; ++k) {
            int s = k % 2;
            wait(&full[HANGS && k == 2 ? s ^ 1 : s], k / 2);
            sum += tile[s][threadIdx.x];
            arrive(&empty[s]);
        }
        out[threadIdx.x] = sum;
    }
}

// Each warp waits for the other one before it arrives itself.
template <bool HANGS>
__global__ void crosswise(int* out) {
    __shared__ Bar first, second;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&first, 32);
        ptx::mbarrier_init(&second, 32);
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        if (!HANGS) arrive(&second);
        while (!ptx::mbarrier_try_wait_parity(&first, 0)) {}
        if (HANGS) ptx::mbarrier_arrive(&second);
    } else {
        while (!ptx::mbarrier_try_wait_parity(&second, 0)) {}
        ptx::mbarrier_arrive(&first);
    }
    out[threadIdx.x] = threadIdx.x;
}

// The producer has filled one tile and ends; the consumer waits for two.
template <bool HANGS>
__global__ void producer_ends(const int* in, int* out) {
    __shared__ int tile[32];
    __shared__ Bar full, empty;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&full, 32);
        ptx::mbarrier_init(&empty, 32);
    }
    __syncthreads();
    int lane = threadIdx.x % 32;
    if (threadIdx.x >= 32) {
        for (int k = 0; k < (HANGS ? 1 : 2); ++k) {
            if (k) wait(&empty, 0);
            tile[lane] = in[k * 32 + lane];
            arrive(&full);
        }
    } else {
        int sum = 0;
        for (int k = 0; k < 2; ++k) {
            wait(&full, k);
            sum += tile[lane];
            arrive(&empty);
        }
        out[lane] = sum;
    }
}

// The second block of a cluster waits for an arrival of the first one, which comes behind the barrier
// of the cluster.
template <bool HANGS>
__global__ void block_stays_away(int* out) {
    __shared__ Bar go;
    auto cluster = this_cluster();
    if (threadIdx.x == 0) ptx::mbarrier_init(&go, 1);
    cluster.sync();
    const bool waits = cluster.block_rank() == 1;
    if (HANGS && waits) wait(&go, 0);
    cluster.sync();
    if (!waits && threadIdx.x == 0)
        ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster,
                             cluster.map_shared_rank(&go, 1));
    if (!HANGS && waits) wait(&go, 0);
    cluster.sync();
    out[blockIdx.x * 64 + threadIdx.x] = 1;
}

// Without .noinc an arrival of copies adds one to those that the phase expects, and then takes it away.
// So the 64 of the initialisation never come.
template <bool HANGS>
__global__ void without_noinc(const int* in, int* out) {
    __shared__ alignas(16) int tile[64];
    __shared__ Bar full;
    if (threadIdx.x == 0) ptx::mbarrier_init(&full, 64);
    __syncthreads();
    unsigned to = (unsigned)__cvta_generic_to_shared(&tile[threadIdx.x]);
    unsigned bar = (unsigned)__cvta_generic_to_shared(&full);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(in + threadIdx.x)
                 : "memory");
    if (HANGS)
        asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(bar) : "memory");
    else
        asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(bar) : "memory");
    wait(&full, 0);
    out[threadIdx.x] = tile[63 - threadIdx.x];
}

// Nobody initialises the barrier, or a word of the tile is not written either: only that is a read of unwritten memory.
enum { INITIALISED, NOT_INITIALISED, NOTHING_WRITTEN };
template <int HOW>
__global__ void used_at_once(int* out) {
    __shared__ int tile[64];
    __shared__ Bar full;
    if (HOW == INITIALISED && threadIdx.x == 0) ptx::mbarrier_init(&full, 64);
    __syncthreads();
    if (HOW != NOTHING_WRITTEN) tile[threadIdx.x] = threadIdx.x;
    if (HOW == NOTHING_WRITTEN) out[threadIdx.x] = tile[threadIdx.x];
    arrive(&full);
    wait(&full, 0);
    if (HOW != NOTHING_WRITTEN) out[threadIdx.x] = tile[63 - threadIdx.x];
}
