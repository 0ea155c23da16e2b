// nbody_fast of nbody_ladder.cu with two tiles, which asynchronous copies fill (cp.async, from sm_80
// on): the next tile is on its way while the threads use this one.

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

// The threads of a block and the bodies of a tile.
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

// Copies 16 bytes, or stores zeros there. The thread does not wait for them.
__device__ void copy_async(float4* to, const float4* from, bool zeros) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                     unsigned(__cvta_generic_to_shared(to))),
                 "l"(from), "r"(zeros ? 0 : 16)
                 : "memory");
}

// Starts to fill a tile with the bodies from `start` on. A tile with fewer bodies is filled up with
// zeros: bodies that have no mass and pull nobody.
__device__ void start_tile(float4* tile, const float4* position, int start, int last) {
    int j = start + threadIdx.x;
    copy_async(tile + threadIdx.x, position + min(j, last - 1), j >= last);
}

// Computes the forces f that bodies first to last - 1 of n exert on this thread's bodies. Without
// `Wait`, threads read a tile while copies may still fill it: THAT IS RACY ON PURPOSE.
template <int Bodies, int Unroll, bool Wait>
__device__ void pull_by(float3 (&f)[Bodies], const float4* position, int n, int begin, int first,
                        int last, float eps2) {
    static_assert(threads % Unroll == 0, "add_tile must not leave the tile");
    __shared__ float4 tiles[2][threads];
    start_tile(tiles[0], position, first, last);

    // A thread beyond the last body still copies its part of each tile and reaches each barrier.
    float3 pos[Bodies];
#pragma unroll
    for (int k = 0; k < Bodies; ++k) {
        int i = body_of<Bodies>(begin, k);
        float4 body = i < n ? position[i] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        pos[k] = make_float3(body.x, body.y, body.z);
        f[k] = make_float3(0.0f, 0.0f, 0.0f);
    }

    int now = 0;  // the tile to use
    for (int start = first; start < last; start += threads) {
        if (Wait) asm volatile("cp.async.wait_all;" ::: "memory");
        // Removes two hazards. Read after write: add_tile reads bodies that other threads copy, and
        // each thread has waited for its own copy only. Write after read: the copies below go to
        // the other tile, which other threads may still be reading.
        __syncthreads();
        if (start + threads < last) start_tile(tiles[1 - now], position, start + threads, last);
        add_tile<Bodies, Unroll>(f, pos, tiles[now], min(threads, last - start), eps2);
        now = 1 - now;
    }
}

// Block (x, y) computes the forces that the y-th `share` bodies exert on the x-th Bodies * threads
// bodies, and stores the force on body i in partial[y * n + i]. gridDim.y * share is at least n.
// eps2 is an argument of the kernel, so that it is read from constant memory and needs no register.
template <int Bodies, int Unroll, bool Wait = true>
__device__ void find_partial_forces(float4* partial, const float4* position, int n, int begin,
                                    float eps2, int share) {
    int first = blockIdx.y * share;
    float3 f[Bodies];
    pull_by<Bodies, Unroll, Wait>(f, position, n, begin, first, min(first + share, n), eps2);

#pragma unroll
    for (int k = 0; k < Bodies; ++k) {
        int i = body_of<Bodies>(begin, k);
        if (i < n) partial[size_t(blockIdx.y) * n + i] = make_float4(f[k].x, f[k].y, f[k].z, 0.0f);
    }
}

// Changed: the copies of the next tile need no registers and no second barrier.
extern "C" __global__ void __launch_bounds__(threads, 3)
    nbody_async(float4* partial, const float4* position, int n, int begin, float eps2, int share) {
    find_partial_forces<4, 2>(partial, position, n, begin, eps2, share);
}

// For few bodies, as nbody_fast_small.
extern "C" __global__ void __launch_bounds__(threads, 2)
    nbody_async_small(float4* partial, const float4* position, int n, int begin, float eps2,
                      int share) {
    find_partial_forces<2, 8>(partial, position, n, begin, eps2, share);
}

// The two without the wait for their copies.
extern "C" __global__ void __launch_bounds__(threads, 3)
    nbody_async_no_wait(float4* partial, const float4* position, int n, int begin, float eps2,
                        int share) {
    find_partial_forces<4, 2, false>(partial, position, n, begin, eps2, share);
}

extern "C" __global__ void __launch_bounds__(threads, 2)
    nbody_async_no_wait_small(float4* partial, const float4* position, int n, int begin, float eps2,
                              int share) {
    find_partial_forces<2, 8, false>(partial, position, n, begin, eps2, share);
}
