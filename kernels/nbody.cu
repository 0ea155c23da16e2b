// One step of the n-body problem, the same physics again and again: bodies read straight from
// global memory as float3, as float4, in tiles through shared memory, and from there a ladder of
// kernels, each of which changes one thing of the one before, up to what the card allows.
//
// Every body attracts every other one (and itself, with force 0) with G = 1, softened by eps:
//     a_i = sum over j of m_j (x_j - x_i) / (|x_j - x_i|^2 + eps^2)^(3/2)
// and moves by semi-implicit Euler: v += a dt, x += v dt. Old state in, new state out, so no thread
// reads what another one writes. Any n >= 1 will do, and any block size for the kernels in which
// one thread moves one body.

// Adds to f the pull of a body of mass m, which stands at r from here.
__device__ void add_pull(float3& f, float3 r, float m, float eps) {
    float inv_dist = 1.0f / sqrtf(r.x * r.x + r.y * r.y + r.z * r.z + eps * eps);
    float s = m * inv_dist * inv_dist * inv_dist;

    f.x += r.x * s;
    f.y += r.y * s;
    f.z += r.z * s;
}

// Vector is float3 or float4; w, the mass, stays.
template <class Vector>
__device__ void advance(Vector& pos, Vector& vel, float3 f, float dt) {
    vel.x += f.x * dt;
    vel.y += f.y * dt;
    vel.z += f.z * dt;
    pos.x += vel.x * dt;
    pos.y += vel.y * dt;
    pos.z += vel.z * dt;
}

// Positions and velocities are packed triples of 12 bytes, which no single load instruction reads;
// the masses lie in an array of their own.
extern "C" __global__ void nbody_float3(float3* new_position, float3* new_velocity,
                                        const float3* old_position, const float3* old_velocity,
                                        const float* mass, int n, float dt, float eps) {
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= n) return;

    float3 pos = old_position[index];
    float3 f = make_float3(0.0f, 0.0f, 0.0f);
    for (int j = 0; j < n; ++j) {
        float3 r;
        r.x = old_position[j].x - pos.x;
        r.y = old_position[j].y - pos.y;
        r.z = old_position[j].z - pos.z;

        add_pull(f, r, mass[j], eps);
    }

    float3 vel = old_velocity[index];
    advance(pos, vel, f, dt);
    new_position[index] = pos;
    new_velocity[index] = vel;
}

// The mass rides in w: one 16-byte load fetches all that a body exerts. Still n reads of global
// memory for each body.
extern "C" __global__ void nbody_float4(float4* new_position, float4* new_velocity,
                                        const float4* old_position, const float4* old_velocity,
                                        int n, float dt, float eps) {
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= n) return;

    float4 pos = old_position[index];
    float3 f = make_float3(0.0f, 0.0f, 0.0f);
    for (int j = 0; j < n; ++j) {
        float4 other = old_position[j];
        float3 r;
        r.x = other.x - pos.x;
        r.y = other.y - pos.y;
        r.z = other.z - pos.z;

        add_pull(f, r, other.w, eps);
    }

    float4 vel = old_velocity[index];
    advance(pos, vel, f, dt);
    new_position[index] = pos;
    new_velocity[index] = vel;
}

// The threads of a block together fetch a tile of blockDim.x bodies into shared memory, each one
// body, and then all of them read it from there: n / blockDim.x reads of global memory for each
// body. Dynamic shared memory: blockDim.x * sizeof(float4).
extern "C" __global__ void nbody_tiled(float4* new_position, float4* new_velocity,
                                       const float4* old_position, const float4* old_velocity,
                                       int n, float dt, float eps) {
    extern __shared__ float4 sp[];
    int index = blockIdx.x * blockDim.x + threadIdx.x;

    // A thread beyond the last body still loads its share of every tile and reaches every barrier.
    float4 pos = index < n ? old_position[index] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    float3 f = make_float3(0.0f, 0.0f, 0.0f);

    for (int first = 0; first < n; first += blockDim.x) {
        int count = min((int)blockDim.x, n - first);  // the last tile may be a partial one
        if (threadIdx.x < count) sp[threadIdx.x] = old_position[first + threadIdx.x];
        // Without this barrier a warp reads bodies that another warp has not loaded yet.
        __syncthreads();

        for (int j = 0; j < count; ++j) {
            float3 r;
            r.x = sp[j].x - pos.x;
            r.y = sp[j].y - pos.y;
            r.z = sp[j].z - pos.z;

            add_pull(f, r, sp[j].w, eps);
        }

        // Without this barrier a warp overwrites the tile with the next one while another warp
        // still reads it.
        __syncthreads();
    }

    if (index >= n) return;
    float4 vel = old_velocity[index];
    advance(pos, vel, f, dt);
    new_position[index] = pos;
    new_velocity[index] = vel;
}

// 1 / sqrt(x) to 2^-22.4 (PTX ISA, rsqrt.approx) in one instruction. A root and a division, rounded
// as IEEE 754 wants them, are an estimate each with its corrections and a test for rare cases.
__device__ float rsqrt_approx(float x) {
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// add_pull in 10 instructions, 13 with the differences r: the sum of squares begins with eps
// squared. A multiply-add reads three registers, and the register file gives two of a bank at a
// time; in this order of coordinates the assembler lets most operands stay for the next one (.reuse
// in SASS).
__device__ void add_pull_rsqrt(float3& f, float3 r, float m, float eps2) {
    float inv_dist = rsqrt_approx(fmaf(r.z, r.z, fmaf(r.y, r.y, fmaf(r.x, r.x, eps2))));
    float s = (m * inv_dist) * (inv_dist * inv_dist);

    f.z = fmaf(r.z, s, f.z);
    f.x = fmaf(r.x, s, f.x);
    f.y = fmaf(r.y, s, f.y);
}

// nbody_tiled with another way to a body's pull, and its inner loop unrolled Unroll times.
template <int Unroll>
__device__ void step_in_tiles(float4* new_position, float4* new_velocity,
                              const float4* old_position, const float4* old_velocity, int n,
                              float dt, float eps) {
    extern __shared__ float4 tile[];
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    float eps2 = eps * eps;

    float4 pos = index < n ? old_position[index] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    float3 f = make_float3(0.0f, 0.0f, 0.0f);

    for (int first = 0; first < n; first += blockDim.x) {
        int count = min((int)blockDim.x, n - first);
        if (threadIdx.x < count) tile[threadIdx.x] = old_position[first + threadIdx.x];
        // Without this barrier a warp reads bodies that another warp has not loaded yet.
        __syncthreads();

#pragma unroll Unroll
        for (int j = 0; j < count; ++j) {
            float4 other = tile[j];
            float3 r = make_float3(other.x - pos.x, other.y - pos.y, other.z - pos.z);
            add_pull_rsqrt(f, r, other.w, eps2);
        }

        // Without this barrier a warp overwrites the tile with the next one while another warp
        // still reads it.
        __syncthreads();
    }

    if (index >= n) return;
    float4 vel = old_velocity[index];
    advance(pos, vel, f, dt);
    new_position[index] = pos;
    new_velocity[index] = vel;
}

// Changed: rsqrt.approx for 1.0f / sqrtf, eps squared inside the chain of fused multiply-adds. nvcc
// unrolls the loop of nbody_tiled 4 times by itself, so 4 it is here.
extern "C" __global__ void nbody_rsqrt(float4* new_position, float4* new_velocity,
                                       const float4* old_position, const float4* old_velocity,
                                       int n, float dt, float eps) {
    step_in_tiles<4>(new_position, new_velocity, old_position, old_velocity, n, dt, eps);
}

// Changed: 16 bodies a turn of the inner loop, so that its counter and branch cost less of each.
// Held to the registers of nbody_rsqrt, or fewer blocks would fit a multiprocessor.
extern "C" __global__ void __maxnreg__(32)
    nbody_unrolled(float4* new_position, float4* new_velocity, const float4* old_position,
                   const float4* old_velocity, int n, float dt, float eps) {
    step_in_tiles<16>(new_position, new_velocity, old_position, old_velocity, n, dt, eps);
}

// From here on blocks have this many threads, and tiles this many bodies.
constexpr int threads = 256;

// Which body a thread's k-th one is: neighbours in a warp are neighbours in memory.
template <int Bodies>
__device__ int body_of(int k) {
    return (blockIdx.x * Bodies + k) * threads + threadIdx.x;
}

// Adds the pulls of the tile's bodies, up to `count` and on to a multiple of Unroll, to the forces
// on Bodies bodies at pos. One load from shared memory serves all of those.
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

// The forces f on this thread's bodies by bodies first to last - 1 of n.
template <int Bodies, int Unroll>
__device__ void pull_by(float3 (&f)[Bodies], const float4* position, int n, int first, int last,
                        float eps2) {
    static_assert(threads % Unroll == 0, "add_tile must not leave the tile");
    __shared__ float4 tile[threads];

    // Threads beyond the last body take part in everything but the end, as in nbody_tiled.
    float3 pos[Bodies];
#pragma unroll
    for (int k = 0; k < Bodies; ++k) {
        int i = body_of<Bodies>(k);
        float4 body = i < n ? position[i] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        pos[k] = make_float3(body.x, body.y, body.z);
        f[k] = make_float3(0.0f, 0.0f, 0.0f);
    }

    for (int start = first; start < last; start += threads) {
        // What a partial tile lacks is filled with bodies that have no mass and pull nobody.
        int j = start + threadIdx.x;
        float4 body = j < last ? position[j] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        // Without this barrier a warp overwrites the last tile while another warp still reads it.
        __syncthreads();
        tile[threadIdx.x] = body;
        // Without this barrier a warp reads bodies that another warp has not stored yet.
        __syncthreads();

        add_tile<Bodies, Unroll>(f, pos, tile, min(threads, last - start), eps2);
    }
}

// Changed: 4 bodies a thread, so that a load from shared memory serves 4 interactions. But there
// are only a quarter as many threads, which leaves multiprocessors idle.
extern "C" __global__ void __launch_bounds__(threads, 3)
    nbody_several(float4* new_position, float4* new_velocity, const float4* old_position,
                  const float4* old_velocity, int n, float dt, float eps) {
    float3 f[4];
    pull_by<4, 2>(f, old_position, n, 0, n, eps * eps);

#pragma unroll
    for (int k = 0; k < 4; ++k) {
        int i = body_of<4>(k);
        if (i >= n) continue;
        float4 pos = old_position[i];
        float4 vel = old_velocity[i];
        advance(pos, vel, f[k], dt);
        new_position[i] = pos;
        new_velocity[i] = vel;
    }
}

// Block (x, y) finds the forces on the x-th Bodies * threads bodies by the y-th `share` bodies:
// partial[y * n + i]. gridDim.y * share is n or more. Being a kernel's argument, eps squared is
// read from constant memory and not from a register.
template <int Bodies, int Unroll>
__device__ void find_partial_forces(float4* partial, const float4* position, int n, float eps2,
                                    int share) {
    int first = blockIdx.y * share;
    float3 f[Bodies];
    pull_by<Bodies, Unroll>(f, position, n, first, min(first + share, n), eps2);

#pragma unroll
    for (int k = 0; k < Bodies; ++k) {
        int i = body_of<Bodies>(k);
        if (i < n) partial[size_t(blockIdx.y) * n + i] = make_float4(f[k].x, f[k].y, f[k].z, 0.0f);
    }
}

// Changed: the bodies that pull are dealt to gridDim.y rows of blocks, as many as fill the card in
// whole waves; nbody_integrate adds the rows' forces.
extern "C" __global__ void __launch_bounds__(threads, 3)
    nbody_fast(float4* partial, const float4* position, int n, float eps2, int share) {
    find_partial_forces<4, 2>(partial, position, n, eps2, share);
}

// The same for few bodies: 2 a thread make twice the blocks, and with one block on a multiprocessor
// a longer loop body hides what other warps can't.
extern "C" __global__ void __launch_bounds__(threads, 2)
    nbody_fast_small(float4* partial, const float4* position, int n, float eps2, int share) {
    find_partial_forces<2, 16>(partial, position, n, eps2, share);
}

// Adds the `rows` partial forces on each body, always in the same order, and moves it. One thread a
// body, any block size.
extern "C" __global__ void nbody_integrate(float4* new_position, float4* new_velocity,
                                           const float4* old_position, const float4* old_velocity,
                                           const float4* partial, int n, int rows, float dt) {
    int index = blockIdx.x * blockDim.x + threadIdx.x;
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
