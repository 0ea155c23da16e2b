// Blocks of a cluster read and write each other's shared memory.
#include <cuda/ptx>
#include "cluster_group.h"

namespace ptx = cuda::ptx;
using Bar = uint64_t;

// Each block reads its neighbour's tile, turned round.
template <bool SYNC, bool LAST>
__global__ void turned(const int* in, int* out) {
    __shared__ int tile[64];
    auto cluster = this_cluster();
    int i = blockIdx.x * 64 + threadIdx.x;
    tile[threadIdx.x] = in[i];
    if (SYNC) cluster.sync();
    const int* theirs = cluster.map_shared_rank(tile, cluster.block_rank() ^ 1);
    int value = theirs[63 - threadIdx.x];
    if (LAST) cluster.sync();
    out[i] = value;
}

// Only the last block reads. The first one may end before.
template <bool LAST>
__global__ void last_reads(const int* in, int* out) {
    __shared__ int tile[64];
    auto cluster = this_cluster();
    int i = blockIdx.x * 64 + threadIdx.x;
    tile[threadIdx.x] = in[i];
    cluster.sync();
    if (cluster.block_rank() == 1) out[i] = cluster.map_shared_rank(tile, 0)[threadIdx.x];
    if (LAST) cluster.sync();
}

// Each block writes into its neighbour's tile. The neighbour never writes there itself.
template <bool SYNC>
__global__ void pushed(const int* in, int* out) {
    __shared__ int tile[64];
    auto cluster = this_cluster();
    cluster.sync();
    int i = blockIdx.x * 64 + threadIdx.x;
    cluster.map_shared_rank(tile, cluster.block_rank() ^ 1)[threadIdx.x] = in[i];
    if (SYNC) cluster.sync();
    out[i] = tile[threadIdx.x];
}

// Bins lie in all blocks of the cluster.
template <bool ATOMIC>
__global__ void histogram(const int* in, int* out) {
    __shared__ int bins[16];
    auto cluster = this_cluster();
    if (threadIdx.x < 16) bins[threadIdx.x] = 0;
    cluster.sync();
    int bin = in[blockIdx.x * 64 + threadIdx.x] % 32;
    int* theirs = cluster.map_shared_rank(bins, bin / 16);
    if (ATOMIC) atomicAdd(theirs + bin % 16, 1);
    else theirs[bin % 16] += 1;
    cluster.sync();
    if (threadIdx.x < 16) out[blockIdx.x * 16 + threadIdx.x] = bins[threadIdx.x];
}

// Arrives, does work of its own, waits. WORK: that work is not its own.
template <bool WORK>
__global__ void arrives_early(const int* in, int* out) {
    __shared__ int tile[64];
    auto cluster = this_cluster();
    int i = blockIdx.x * 64 + threadIdx.x;
    tile[threadIdx.x] = in[i];
    cluster.barrier_arrive();
    int own = in[i] * 2;
    const int* theirs = cluster.map_shared_rank(tile, cluster.block_rank() ^ 1);
    if (WORK) own += theirs[threadIdx.x];
    cluster.barrier_wait();
    if (!WORK) own += theirs[threadIdx.x];
    cluster.sync();
    out[i] = own;
}

// The first warp of each block arrives before the second one, and changes its half of the tile behind
// its own arrival (LATE) or before it. The other block reads that half.
template <bool LATE>
__global__ void changed_between_arrivals(int* out) {
    __shared__ int tile[64];
    auto cluster = this_cluster();
    tile[threadIdx.x] = 0;
    cluster.sync();
    if (!LATE) tile[threadIdx.x] = threadIdx.x;
    cluster.barrier_arrive();
    if (LATE && threadIdx.x < 32) tile[threadIdx.x] = threadIdx.x;
    cluster.barrier_wait();
    int value = cluster.map_shared_rank(tile, cluster.block_rank() ^ 1)[threadIdx.x];
    cluster.sync();
    out[blockIdx.x * 64 + threadIdx.x] = value;
}

// As before, but a barrier of the block stands between the change and the arrival of the second warp.
__global__ void changed_before_the_last_arrival(int* out) {
    __shared__ int tile[64];
    auto cluster = this_cluster();
    tile[threadIdx.x] = 0;
    cluster.sync();
    if (threadIdx.x < 32) {
        cluster.barrier_arrive();
        tile[threadIdx.x] = threadIdx.x;
    }
    __syncthreads();
    if (threadIdx.x >= 32) cluster.barrier_arrive();
    cluster.barrier_wait();
    int value = cluster.map_shared_rank(tile, cluster.block_rank() ^ 1)[threadIdx.x];
    cluster.sync();
    out[blockIdx.x * 64 + threadIdx.x] = value;
}

// The second warp reads the other block's tile before it has waited itself (EARLY).
template <bool EARLY>
__global__ void read_before_own_wait(int* out) {
    __shared__ int tile[64];
    auto cluster = this_cluster();
    cluster.sync();
    tile[threadIdx.x] = threadIdx.x;
    cluster.barrier_arrive();
    const int* theirs = cluster.map_shared_rank(tile, cluster.block_rank() ^ 1);
    int value = 0;
    if (EARLY && threadIdx.x >= 32) value = theirs[threadIdx.x];
    cluster.barrier_wait();
    if (!EARLY || threadIdx.x < 32) value = theirs[threadIdx.x];
    cluster.sync();
    out[blockIdx.x * 64 + threadIdx.x] = value;
}

// All threads of block 0 write into block 1. One of them arrives there for all: behind a barrier of its
// block (SYNC), or not.
template <bool SYNC>
__global__ void one_warp_arrives_for_two(int* out) {
    __shared__ int tile[64];
    __shared__ Bar bar;
    auto cluster = this_cluster();
    if (threadIdx.x == 0) ptx::mbarrier_init(&bar, 1);
    tile[threadIdx.x] = 0;
    cluster.sync();
    if (cluster.block_rank() == 0) {
        cluster.map_shared_rank(tile, 1)[threadIdx.x] = threadIdx.x;
        if (SYNC) __syncthreads();
        __syncwarp();
        if (threadIdx.x == 0)
            ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster,
                                 cluster.map_shared_rank(&bar, 1));
    } else {
        while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &bar, 0)) {}
        out[threadIdx.x] = tile[threadIdx.x];
    }
    cluster.sync();
}

// Block 0 writes into block 1 and arrives there at an mbarrier. INIT: all know of it before.
template <bool INIT, bool ALL>
__global__ void handed_over(const int* in, int* out) {
    __shared__ int tile[64];
    __shared__ Bar full;
    auto cluster = this_cluster();
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&full, ALL ? 64 : 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    if (INIT) cluster.sync();
    else __syncthreads();
    if (cluster.block_rank() == 0) {
        cluster.map_shared_rank(tile, 1)[threadIdx.x] = in[threadIdx.x];
        Bar* theirs = cluster.map_shared_rank(&full, 1);
        if (ALL || threadIdx.x == 0)
            ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster, theirs);
    } else {
        while (!ptx::mbarrier_try_wait_parity(&full, 0)) {}
        out[threadIdx.x] = tile[63 - threadIdx.x];
    }
    cluster.sync();
}

// Block 0 stores into block 1 with st.async, whose bytes an mbarrier of block 1 counts. BYTES are
// announced there.
template <int BYTES>
__global__ void stored(const int* in, int* out) {
    __shared__ int tile[64];
    __shared__ Bar full;
    auto cluster = this_cluster();
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&full, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    cluster.sync();
    if (cluster.block_rank() == 0) {
        ptx::st_async(cluster.map_shared_rank(tile, 1) + threadIdx.x, in[threadIdx.x],
                      cluster.map_shared_rank(&full, 1));
    } else {
        if (threadIdx.x == 0)
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                           &full, BYTES);
        while (!ptx::mbarrier_try_wait_parity(&full, 0)) {}
        out[threadIdx.x] = tile[63 - threadIdx.x];
    }
    cluster.sync();
}

// Every block copies its tile into the next one.
__global__ void passed_on(const int* in, int* out) {
    __shared__ alignas(16) int tile[64], from_before[64];
    __shared__ Bar full;
    auto cluster = this_cluster();
    int i = blockIdx.x * 64 + threadIdx.x;
    tile[threadIdx.x] = in[i];
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&full, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    ptx::fence_proxy_async(ptx::space_shared);
    cluster.sync();
    unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
    if (threadIdx.x == 0) {
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full,
                                       sizeof(tile));
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_shared,
                           cluster.map_shared_rank(from_before, next), tile, sizeof(tile),
                           cluster.map_shared_rank(&full, next));
    }
    while (!ptx::mbarrier_try_wait_parity(&full, 0)) {}
    out[i] = from_before[threadIdx.x];
    cluster.sync();
}

// Block 0 copies the input into all blocks.
__global__ void for_all(const int* in, int* out) {
    __shared__ alignas(16) int tile[64];
    __shared__ Bar full;
    auto cluster = this_cluster();
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&full, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        ptx::fence_proxy_async(ptx::space_shared);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full,
                                       sizeof(tile));
    }
    cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x == 0)
        // cuda::ptx has this for compute_90a only.
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
            " [%0], [%1], %2, [%3], %4;" ::"r"(unsigned(__cvta_generic_to_shared(tile))),
            "l"(__cvta_generic_to_global(in)), "r"(unsigned(sizeof(tile))),
            "r"(unsigned(__cvta_generic_to_shared(&full))),
            "h"((unsigned short)((1u << cluster.num_blocks()) - 1))
            : "memory");
    while (!ptx::mbarrier_try_wait_parity(&full, 0)) {}
    out[blockIdx.x * 64 + threadIdx.x] = tile[63 - threadIdx.x];
    cluster.sync();
}

// What one block writes to global memory, another one reads.
template <bool SYNC>
__global__ void through_global(const int* in, int* mid, int* out) {
    auto cluster = this_cluster();
    int i = blockIdx.x * 64 + threadIdx.x;
    mid[i] = in[i];
    if (SYNC) cluster.sync();
    out[i] = mid[i ^ 64];
}

// The ranks of a cluster, and an address that names one.
__global__ void ranks(int* out) {
    __shared__ int word;
    auto cluster = this_cluster();
    cluster.sync();
    unsigned last = cluster.num_blocks() - 1;
    int* theirs = cluster.map_shared_rank(&word, last);
    if (threadIdx.x == 0)
        out[blockIdx.x] = cluster.block_rank() * 100 + cluster.query_shared_rank(theirs) * 10 +
                          cluster.query_shared_rank(&word);
    cluster.sync();
}

__global__ void no_such_block(int* out) {
    __shared__ int word;
    auto cluster = this_cluster();
    cluster.sync();
    *cluster.map_shared_rank(&word, 2) = 1;
    cluster.sync();
    out[0] = word;
}

// One block waits at an mbarrier to which nobody comes, the other at the barrier of the cluster.
__global__ void one_stays(int* out) {
    __shared__ Bar full;
    auto cluster = this_cluster();
    if (threadIdx.x == 0) ptx::mbarrier_init(&full, 1);
    cluster.sync();
    if (cluster.block_rank() == 1)
        while (!ptx::mbarrier_try_wait_parity(&full, 0)) {}
    cluster.sync();
    out[0] = 1;
}

// Block 0 hands a number over in global memory. The fences count for the blocks of one cluster.
__global__ void fences_of_cluster(int* message, int* flag, int* out) {
    if (blockIdx.x == 0) {
        *message = 7;
        asm volatile("fence.acq_rel.cluster;" ::: "memory");
        asm volatile("st.relaxed.gpu.u32 [%0], 1;" ::"l"(flag) : "memory");
    } else {
        int seen;
        do asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
        while (!seen);
        asm volatile("fence.acq_rel.cluster;" ::: "memory");
        out[0] = *message;
    }
}

// As before, with a release and an acquire of the scope of a cluster.
__global__ void flag_of_cluster(int* message, int* flag, int* out) {
    if (blockIdx.x == 0) {
        *message = 7;
        asm volatile("st.release.cluster.u32 [%0], 1;" ::"l"(flag) : "memory");
    } else {
        int seen;
        do asm volatile("ld.acquire.cluster.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
        while (!seen);
        out[0] = *message;
    }
}

// Atomic for the threads of one cluster.
__global__ void atomic_of_cluster(int* count) {
    asm volatile("red.relaxed.cluster.global.add.u32 [%0], 1;" ::"l"(count) : "memory");
}

// A thread starts a copy to its own shared memory, one to that of the other block, and another one to its
// own. WAIT: for its own two, before it reads what the last one has brought.
template <bool WAIT>
__global__ void here_and_there(const int* in, int* out) {
    __shared__ alignas(16) int tiles[2][4], mine[4], theirs[4];
    __shared__ Bar full;
    auto cluster = this_cluster();
    const auto fetch = [&](int k) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                     ::"r"(unsigned(__cvta_generic_to_shared(tiles[k]))), "l"(in + 4 * k) : "memory");
    };
    const auto wait = [] { asm volatile("cp.async.wait_all;" ::: "memory"); };
    if (threadIdx.x == 0) {
        for (int k = 0; k < 4; ++k) mine[k] = k;
        ptx::mbarrier_init(&full, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    cluster.sync();
    if (threadIdx.x == 0) {
        const unsigned other = cluster.block_rank() ^ 1;
        fetch(0);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full,
                                       sizeof(mine));
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_shared, cluster.map_shared_rank(theirs, other),
                           mine, sizeof(mine), cluster.map_shared_rank(&full, other));
        fetch(1);
        if (WAIT) wait();
        out[2 * blockIdx.x] = tiles[1][0];
        if (!WAIT) wait();
        while (!ptx::mbarrier_try_wait_parity(&full, 0)) {}
        out[2 * blockIdx.x + 1] = theirs[3];
    }
    cluster.sync();
}

// Block 0 copies numbers in bulk and tells block 1, which changes them then. WAIT: it tells when it
// has seen that the copy has ended.
template <bool WAIT>
__global__ void source_of_other_block(int* in, int* flag, int* out) {
    __shared__ alignas(16) int tile[64];
    __shared__ Bar full;
    const int t = threadIdx.x;
    if (blockIdx.x == 1) {
        int seen;
        do asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
        while (!seen);
        in[t] = 0;
        return;
    }
    if (t == 0) {
        ptx::mbarrier_init(&full, 1);
        ptx::fence_proxy_async(ptx::space_shared);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full,
                                       sizeof(tile));
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, in, sizeof(tile), &full);
        if (WAIT)
            while (!ptx::mbarrier_try_wait_parity(&full, 0)) {}
        asm volatile("st.release.gpu.u32 [%0], 1;" ::"l"(flag) : "memory");
    }
    __syncthreads();
    while (!ptx::mbarrier_try_wait_parity(&full, 0)) {}
    out[t] = tile[t];
}

// As before, with a copy to global memory: block 1 reads what the copy may not have written.
template <bool WAIT>
__global__ void result_for_other_block(int* in, int* flag, int* out) {
    __shared__ alignas(16) int tile[64];
    const int t = threadIdx.x;
    if (blockIdx.x == 1) {
        int seen;
        do asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
        while (!seen);
        out[t] = in[t];
        return;
    }
    tile[t] = t;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (t > 0) return;
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, in, tile, sizeof(tile));
    ptx::cp_async_bulk_commit_group();
    if (WAIT) ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
    else ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    asm volatile("st.release.gpu.u32 [%0], 1;" ::"l"(flag) : "memory");
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
}

// Each form of the instructions for clusters, by its name in PTX. out holds 1 where all gave what
// they must.
__global__ void named_instructions(int* out) {
    __shared__ int words[4];
    __shared__ alignas(16) int stored[8];
    __shared__ Bar full;
    const auto shared = [](const void* p) { return (unsigned)__cvta_generic_to_shared(p); };
    const unsigned t = threadIdx.x, mine = blockIdx.x % 2, theirs = mine ^ 1;
    unsigned rank, size, cluster, clusters, x;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    asm("mov.u32 %0, %%clusterid.x;" : "=r"(cluster));
    asm("mov.u32 %0, %%nclusterid.x;" : "=r"(clusters));
    asm("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(x));
    bool right =
        rank == mine && x == mine && size == 2 && cluster == blockIdx.x / 2 && clusters == 2;
    if (t < 4) words[t] = 0;
    if (t == 0) {
        stored[7] = 8;
        ptx::mbarrier_init(&full, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full,
                                       28);
    }
    asm volatile(
        "barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::
            : "memory");
    unsigned word, row, bar, of, before, read;
    unsigned long long generic;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(word) : "r"(shared(words)), "r"(theirs));
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(row) : "r"(shared(stored)), "r"(theirs));
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(bar) : "r"(shared(&full)), "r"(theirs));
    asm("mapa.u64 %0, %1, %2;" : "=l"(generic) : "l"(words), "r"(theirs));
    asm("getctarank.shared::cluster.u32 %0, %1;" : "=r"(of) : "r"(word));
    right &= of == theirs;
    asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], 1;" ::"r"(word) : "memory");
    asm volatile("atom.relaxed.cluster.shared::cluster.add.u32 %0, [%1+4], 1;"
                 : "=r"(before)
                 : "r"(word)
                 : "memory");
    right &= before < 32;
    asm volatile("atom.relaxed.cluster.shared::cluster.cas.b32 %0, [%1+8], 0, 5;"
                 : "=r"(before)
                 : "r"(word)
                 : "memory");
    right &= before == 0 || before == 5;
    if (t == 0) {
        asm volatile("st.shared::cluster.u32 [%0+12], 9;" ::"r"(word) : "memory");
        asm volatile(
            "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {1, 2, 3, 4}, "
            "[%1];" ::"r"(row),
            "r"(bar)
            : "memory");
        asm volatile(
            "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0+16], %2, [%1];" ::
                "r"(row),
            "r"(bar), "l"(0x6'0000'0005)
            : "memory");
        asm volatile(
            "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0+24], 7, [%1];" ::
                "r"(row),
            "r"(bar)
            : "memory");
    }
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &full, 0)) {
    }
    for (int k = 0; k < 8; ++k) right &= stored[k] == k + 1;
    asm volatile("barrier.cluster.arrive;\n\tbarrier.cluster.wait;" ::: "memory");
    right &= words[0] == 32 && words[1] == 32 && words[2] == 5 && words[3] == 9;
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(read) : "r"(word) : "memory");
    right &= read == 32 && *(volatile int*)(generic + 4) == 32;
    asm volatile("barrier.cluster.arrive;\n\tbarrier.cluster.wait;" ::: "memory");
    out[blockIdx.x * 32 + t] = right;
}
