// nbody_fast of nbody_ladder.cu with bulk copies (from sm_90 on). A ninth warp of the block produces:
// one thread of it starts the copy of a whole tile. Eight warps consume. mbarriers tell them that a
// tile is full, and the producer that it is empty again, so that no barrier stops the block.

using Mbarrier = unsigned long long;

// 1 / sqrt(x) in one instruction, with a relative error of at most 2^-22.4 (PTX ISA, rsqrt.approx).
__device__ float rsqrt_approx(float x) {
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// Adds the pull of a body of mass m to f; r points from the pulled body to it.
__device__ void add_pull_rsqrt(float3& f, float3 r, float m, float eps2) {
    float inv_dist = rsqrt_approx(fmaf(r.z, r.z, fmaf(r.y, r.y, fmaf(r.x, r.x, eps2))));
    float s = (m * inv_dist) * (inv_dist * inv_dist);

    f.z = fmaf(r.z, s, f.z);
    f.x = fmaf(r.x, s, f.x);
    f.y = fmaf(r.y, s, f.y);
}

// The threads of a block that consume, and the bodies of a tile.
constexpr int threads = 256;

// The index of this thread's k-th body. Neighbouring threads have neighbouring bodies.
template <int Bodies>
__device__ int body_of(int begin, int k) {
    return begin + (blockIdx.x * Bodies + k) * threads + threadIdx.x;
}

// Adds the pulls of the first `count` bodies of the tile, rounded up to a multiple of Unroll, to
// the forces f on the bodies at pos. One load from shared memory serves all `Bodies` bodies.
template <int Bodies, int Unroll>
__device__ void add_tile(float3 (&f)[Bodies], const float3 (&pos)[Bodies], const float4* tile,
                         int count, float eps2) {
#pragma unroll 1
    for (int j = 0; j < count; j += Unroll) {
#pragma unroll
        for (int u = 0; u < Unroll; ++u) {
            float4 other = tile[j + u];
#pragma unroll
            for (int k = 0; k < Bodies; ++k) {
                float3 r = make_float3(other.x - pos[k].x, other.y - pos[k].y, other.z - pos[k].z);
                add_pull_rsqrt(f[k], r, other.w, eps2);
            }
        }
    }
}

constexpr int tiles_of_ring = 2;

__device__ unsigned shared_address(const void* p) {
    return unsigned(__cvta_generic_to_shared(p));
}

__device__ void init(Mbarrier* barrier, unsigned arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
                 "r"(arrivals)
                 : "memory");
}

__device__ void arrive(Mbarrier* barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
                 : "memory");
}

// Arrives, and lets the phase wait for this many bytes of bulk copies.
__device__ void arrive_expecting(Mbarrier* barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                     shared_address(barrier)),
                 "r"(bytes)
                 : "memory");
}

// Waits until the phase with this parity has ended.
__device__ void wait(Mbarrier* barrier, unsigned parity) {
    asm volatile(
        "{\n"
        ".reg .pred ended;\n"
        "again: mbarrier.try_wait.parity.shared::cta.b64 ended, [%0], %1;\n"
        "@!ended bra again;\n"
        "}" ::"r"(shared_address(barrier)),
        "r"(parity)
        : "memory");
}

__device__ void copy_to_shared(void* to, const void* from, unsigned bytes, Mbarrier* barrier) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
            "r"(shared_address(to)),
        "l"(from), "r"(bytes), "r"(shared_address(barrier))
        : "memory");
}

struct Ring {
    alignas(128) float4 tiles[tiles_of_ring][threads];
    Mbarrier full[tiles_of_ring], empty[tiles_of_ring];
};

// Copies the tiles of bodies first to last - 1. add_tile reads up to Unroll - 1 bodies behind the
// last one: they get no mass and pull nobody.
template <int Unroll>
__device__ void produce(Ring& ring, const float4* position, int first, int last) {
    int stage = 0;
    unsigned parity = 1;  // no phase has ended yet, so that the first waits end at once
    for (int start = first; start < last; start += threads) {
        int count = min(threads, last - start);
        wait(&ring.empty[stage], parity);
        for (int k = count; k % Unroll != 0; ++k)
            ring.tiles[stage][k] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        arrive_expecting(&ring.full[stage], count * sizeof(float4));
        copy_to_shared(ring.tiles[stage], position + start, count * sizeof(float4),
                       &ring.full[stage]);
        if (++stage == tiles_of_ring) stage = 0, parity ^= 1;
    }
}

// Computes the forces f that bodies first to last - 1 of n exert on this thread's bodies. Without
// `Wait`, threads wait for a tile when they have read it: THAT IS RACY ON PURPOSE.
template <int Bodies, int Unroll, bool Wait>
__device__ void consume(float3 (&f)[Bodies], Ring& ring, const float4* position, int n, int begin,
                        int first, int last, float eps2) {
    // A thread beyond the last body still waits for each tile and gives it back.
    float3 pos[Bodies];
#pragma unroll
    for (int k = 0; k < Bodies; ++k) {
        int i = body_of<Bodies>(begin, k);
        float4 body = i < n ? position[i] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        pos[k] = make_float3(body.x, body.y, body.z);
        f[k] = make_float3(0.0f, 0.0f, 0.0f);
    }

    int stage = 0;
    unsigned parity = 0;
    for (int start = first; start < last; start += threads) {
        if (Wait) wait(&ring.full[stage], parity);
        add_tile<Bodies, Unroll>(f, pos, ring.tiles[stage], min(threads, last - start), eps2);
        if (!Wait) wait(&ring.full[stage], parity);
        // One lane arrives for the warp, whose lanes have all read the tile.
        __syncwarp();
        if (threadIdx.x % 32 == 0) arrive(&ring.empty[stage]);
        if (++stage == tiles_of_ring) stage = 0, parity ^= 1;
    }
}

// Block (x, y) computes the forces that the y-th `share` bodies exert on the x-th Bodies * threads
// bodies, and stores the force on body i in partial[y * n + i]. gridDim.y * share is at least n.
// eps2 is an argument of the kernel, so that it is read from constant memory and needs no register.
template <int Bodies, int Unroll, bool Wait = true>
__device__ void find_partial_forces(float4* partial, const float4* position, int n, int begin,
                                    float eps2, int share) {
    static_assert(threads % Unroll == 0, "add_tile must not leave the tile");
    __shared__ Ring ring;
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < tiles_of_ring; ++stage) {
            init(&ring.full[stage], 1);
            init(&ring.empty[stage], threads / 32);
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    // Removes a race: the other threads use the mbarriers that thread 0 has made.
    __syncthreads();

    int first = blockIdx.y * share, last = min(first + share, n);
    if (threadIdx.x >= threads) {
        if (threadIdx.x == threads) produce<Unroll>(ring, position, first, last);
        return;
    }
    float3 f[Bodies];
    consume<Bodies, Unroll, Wait>(f, ring, position, n, begin, first, last, eps2);

#pragma unroll
    for (int k = 0; k < Bodies; ++k) {
        int i = body_of<Bodies>(begin, k);
        if (i < n) partial[size_t(blockIdx.y) * n + i] = make_float4(f[k].x, f[k].y, f[k].z, 0.0f);
    }
}

// Changed: whole tiles are copied, and warps wait for mbarriers instead of for each other. 288
// threads.
extern "C" __global__ void __launch_bounds__(threads + 32, 3)
    nbody_bulk(float4* partial, const float4* position, int n, int begin, float eps2, int share) {
    find_partial_forces<4, 2>(partial, position, n, begin, eps2, share);
}

// For few bodies, as nbody_fast_small.
extern "C" __global__ void __launch_bounds__(threads + 32, 2)
    nbody_bulk_small(float4* partial, const float4* position, int n, int begin, float eps2,
                     int share) {
    find_partial_forces<2, 8>(partial, position, n, begin, eps2, share);
}

// The two without the wait before a tile is read.
extern "C" __global__ void __launch_bounds__(threads + 32, 3)
    nbody_bulk_no_wait(float4* partial, const float4* position, int n, int begin, float eps2,
                       int share) {
    find_partial_forces<4, 2, false>(partial, position, n, begin, eps2, share);
}

extern "C" __global__ void __launch_bounds__(threads + 32, 2)
    nbody_bulk_no_wait_small(float4* partial, const float4* position, int n, int begin, float eps2,
                             int share) {
    find_partial_forces<2, 8, false>(partial, position, n, begin, eps2, share);
}
