// The time step of nbody.cu on a ladder of kernels, from nbody_tiled up to the speed limit of the
// GPU: each changes one thing of the kernel before it. docs/ladder.md has the prediction and the
// measurement for each of them. The physics is that of nbody.cu: n bodies, G = 1, softening eps,
// semi-implicit Euler. A float4 holds a position and, in w, the mass. A launch moves the bodies
// from `begin` on.

// v += a dt, x += v dt. The masses in w stay as they are.
__device__ void advance(float4& pos, float4& vel, float3 f, float dt) {
    vel.x += f.x * dt;
    vel.y += f.y * dt;
    vel.z += f.z * dt;
    pos.x += vel.x * dt;
    pos.y += vel.y * dt;
    pos.z += vel.z * dt;
}

// 1 / sqrt(x) in one instruction, with a relative error of at most 2^-22.4 (PTX ISA, rsqrt.approx).
// A square root and a division that are rounded as IEEE 754 demands take an estimate, corrections
// and a test for rare operands each.
__device__ float rsqrt_approx(float x) {
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// Adds the pull of a body of mass m to f, in 10 instructions: the sum of squares begins with eps
// squared. r points from the pulled body to that body; its three differences make 13 instructions
// an interaction. A multiply-add reads three registers, but the register file gives only two
// registers of a bank at a time. In this order of the coordinates the assembler can keep most
// operands for the next instruction (.reuse in SASS).
__device__ void add_pull_rsqrt(float3& f, float3 r, float m, float eps2) {
    float inv_dist = rsqrt_approx(fmaf(r.z, r.z, fmaf(r.y, r.y, fmaf(r.x, r.x, eps2))));
    float s = (m * inv_dist) * (inv_dist * inv_dist);

    f.z = fmaf(r.z, s, f.z);
    f.x = fmaf(r.x, s, f.x);
    f.y = fmaf(r.y, s, f.y);
}

// nbody_tiled with add_pull_rsqrt, and with the inner loop unrolled `Unroll` times.
template <int Unroll>
__device__ void step_in_tiles(float4* new_position, float4* new_velocity,
                              const float4* old_position, const float4* old_velocity, int n,
                              int begin, float dt, float eps) {
    extern __shared__ float4 tile[];
    int index = begin + blockIdx.x * blockDim.x + threadIdx.x;
    float eps2 = eps * eps;

    float4 pos = index < n ? old_position[index] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    float3 f = make_float3(0.0f, 0.0f, 0.0f);

    for (int first = 0; first < n; first += blockDim.x) {
        int count = min((int)blockDim.x, n - first);
        if (threadIdx.x < count) tile[threadIdx.x] = old_position[first + threadIdx.x];
        // Removes a read-after-write hazard: the loop below reads bodies that other threads load.
        __syncthreads();

#pragma unroll Unroll
        for (int j = 0; j < count; ++j) {
            float4 other = tile[j];
            float3 r = make_float3(other.x - pos.x, other.y - pos.y, other.z - pos.z);
            add_pull_rsqrt(f, r, other.w, eps2);
        }

        // Removes a write-after-read hazard: the next tile overwrites bodies that other threads may
        // still be reading.
        __syncthreads();
    }

    if (index >= n) return;
    float4 vel = old_velocity[index];
    advance(pos, vel, f, dt);
    new_position[index] = pos;
    new_velocity[index] = vel;
}

// Changed: rsqrt.approx instead of 1.0f / sqrtf, and eps squared inside the chain of multiply-adds.
// The loop is unrolled 4 times because nvcc unrolls the loop of nbody_tiled 4 times.
extern "C" __global__ void nbody_rsqrt(float4* new_position, float4* new_velocity,
                                       const float4* old_position, const float4* old_velocity,
                                       int n, int begin, float dt, float eps) {
    step_in_tiles<4>(new_position, new_velocity, old_position, old_velocity, n, begin, dt, eps);
}

// Compilers know __maxnreg__ since CUDA 12.4. Without it a kernel may take more registers.
#if __CUDACC_VER_MAJOR__ > 12 || (__CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ >= 4)
#define MAX_REGISTERS(count) __maxnreg__(count)
#else
#define MAX_REGISTERS(count)
#endif

// Changed: the inner loop is unrolled 16 times, so that its counter and its branch cost less for
// each body. It may use as many registers as nbody_rsqrt; with more of them, fewer blocks would fit
// on a multiprocessor.
extern "C" __global__ void MAX_REGISTERS(32)
    nbody_unrolled(float4* new_position, float4* new_velocity, const float4* old_position,
                   const float4* old_velocity, int n, int begin, float dt, float eps) {
    step_in_tiles<16>(new_position, new_velocity, old_position, old_velocity, n, begin, dt, eps);
}

// The threads of a block and the bodies of a tile of all kernels below.
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

// Computes the forces f that bodies first to last - 1 of n exert on this thread's bodies.
template <int Bodies, int Unroll>
__device__ void pull_by(float3 (&f)[Bodies], const float4* position, int n, int begin, int first,
                        int last, float eps2) {
    static_assert(threads % Unroll == 0, "add_tile must not leave the tile");
    __shared__ float4 tile[threads];

    // A thread beyond the last body still loads its part of each tile and reaches each barrier.
    float3 pos[Bodies];
#pragma unroll
    for (int k = 0; k < Bodies; ++k) {
        int i = body_of<Bodies>(begin, k);
        float4 body = i < n ? position[i] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        pos[k] = make_float3(body.x, body.y, body.z);
        f[k] = make_float3(0.0f, 0.0f, 0.0f);
    }

    for (int start = first; start < last; start += threads) {
        // A tile with fewer bodies is filled up with bodies that have no mass and pull nobody.
        int j = start + threadIdx.x;
        float4 body = j < last ? position[j] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        // Removes a write-after-read hazard: the stores below overwrite bodies of the previous tile
        // that other threads may still be reading.
        __syncthreads();
        tile[threadIdx.x] = body;
        // Removes a read-after-write hazard: add_tile reads bodies that other threads store.
        __syncthreads();

        add_tile<Bodies, Unroll>(f, pos, tile, min(threads, last - start), eps2);
    }
}

// Changed: each thread moves 4 bodies, so that a load from shared memory serves 4 interactions.
// With a quarter of the threads, small numbers of bodies leave multiprocessors idle.
extern "C" __global__ void __launch_bounds__(threads, 3)
    nbody_several(float4* new_position, float4* new_velocity, const float4* old_position,
                  const float4* old_velocity, int n, int begin, float dt, float eps) {
    float3 f[4];
    pull_by<4, 2>(f, old_position, n, begin, 0, n, eps * eps);

#pragma unroll
    for (int k = 0; k < 4; ++k) {
        int i = body_of<4>(begin, k);
        if (i >= n) continue;
        float4 pos = old_position[i];
        float4 vel = old_velocity[i];
        advance(pos, vel, f[k], dt);
        new_position[i] = pos;
        new_velocity[i] = vel;
    }
}

// Block (x, y) computes the forces that the y-th `share` bodies exert on the x-th Bodies * threads
// bodies, and stores the force on body i in partial[y * n + i]. gridDim.y * share is at least n.
// eps2 is an argument of the kernel, so that it is read from constant memory and needs no register.
template <int Bodies, int Unroll>
__device__ void find_partial_forces(float4* partial, const float4* position, int n, int begin,
                                    float eps2, int share) {
    int first = blockIdx.y * share;
    float3 f[Bodies];
    pull_by<Bodies, Unroll>(f, position, n, begin, first, min(first + share, n), eps2);

#pragma unroll
    for (int k = 0; k < Bodies; ++k) {
        int i = body_of<Bodies>(begin, k);
        if (i < n) partial[size_t(blockIdx.y) * n + i] = make_float4(f[k].x, f[k].y, f[k].z, 0.0f);
    }
}

// Changed: the bodies that pull are divided among gridDim.y rows of blocks. There are as many rows
// as keep all multiprocessors busy to the end; nbody_integrate adds the forces of the rows.
extern "C" __global__ void __launch_bounds__(threads, 3)
    nbody_fast(float4* partial, const float4* position, int n, int begin, float eps2, int share) {
    find_partial_forces<4, 2>(partial, position, n, begin, eps2, share);
}

// nbody_fast for few bodies. With 2 bodies per thread there are twice as many blocks. A
// multiprocessor then has one block only, and the loop is unrolled 8 times because few other warps
// can run while one waits. Unrolled 16 times, the kernel takes 2 % longer on an H200, 4 times 9 %.
extern "C" __global__ void __launch_bounds__(threads, 2)
    nbody_fast_small(float4* partial, const float4* position, int n, int begin, float eps2,
                     int share) {
    find_partial_forces<2, 8>(partial, position, n, begin, eps2, share);
}

// Adds the partial forces of all rows on each body, in the order of the rows, and moves the body.
// One thread moves one body, from body `begin` on; any block size.
extern "C" __global__ void nbody_integrate(float4* new_position, float4* new_velocity,
                                           const float4* old_position, const float4* old_velocity,
                                           const float4* partial, int n, int begin, int rows,
                                           float dt) {
    int index = begin + blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= n) return;

    float3 f = make_float3(0.0f, 0.0f, 0.0f);
#pragma unroll 8
    for (int row = 0; row < rows; ++row) {
        float4 part = partial[size_t(row) * n + index];
        f.x += part.x;
        f.y += part.y;
        f.z += part.z;
    }

    float4 pos = old_position[index];
    float4 vel = old_velocity[index];
    advance(pos, vel, f, dt);
    new_position[index] = pos;
    new_velocity[index] = vel;
}
