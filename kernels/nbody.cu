// One time step of gravity between n bodies, each on each. Every body i attracts every body with
// G = 1, softened by eps:
//     a_i = sum over j of m_j (x_j - x_i) / (|x_j - x_i|^2 + eps^2)^(3/2)
// and moves by semi-implicit Euler: v += a dt, then x += v dt. A kernel reads the old positions and
// velocities and writes the new ones, so no thread reads what another thread writes. One thread
// moves one body. Any n from 1 on, any block size. A launch moves the bodies from `begin` on, as
// many as it has threads: a long step can be divided into several launches.

// The kernel that uses shared memory. The threads of a block load a tile of blockDim.x bodies
// together, one body each, and then all of them read the whole tile: each body costs n / blockDim.x
// reads of global memory instead of n. A float4 holds a position and, in w, the mass. Dynamic
// shared memory: blockDim.x * sizeof(float4).
extern "C" __global__ void nbody_tiled(float4* new_position, float4* new_velocity,
                                       const float4* old_position, const float4* old_velocity,
                                       int n, int begin, float dt, float eps) {
    extern __shared__ float4 sp[];  // shared positions
    int index = begin + blockIdx.x * blockDim.x + threadIdx.x;

    // A thread beyond the last body still loads its part of each tile and reaches each barrier.
    float4 pos = index < n ? old_position[index] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    float3 f = make_float3(0.0f, 0.0f, 0.0f);

    for (int first = 0; first < n; first += blockDim.x) {
        int count = min((int)blockDim.x, n - first);  // the last tile may have fewer bodies
        if (threadIdx.x < count) sp[threadIdx.x] = old_position[first + threadIdx.x];
        // Removes a read-after-write hazard: the loop below reads bodies that other threads load.
        __syncthreads();

        for (int j = 0; j < count; ++j) {
            float3 r;
            r.x = sp[j].x - pos.x;
            r.y = sp[j].y - pos.y;
            r.z = sp[j].z - pos.z;

            float inv_dist = 1.0f / sqrtf(r.x * r.x + r.y * r.y + r.z * r.z + eps * eps);
            float s = sp[j].w * inv_dist * inv_dist * inv_dist;

            f.x += r.x * s;
            f.y += r.y * s;
            f.z += r.z * s;
        }

        // Removes a write-after-read hazard: the next tile overwrites bodies that other threads may
        // still be reading.
        __syncthreads();
    }

    if (index >= n) return;
    float4 vel = old_velocity[index];
    vel.x += f.x * dt;
    vel.y += f.y * dt;
    vel.z += f.z * dt;

    pos.x += vel.x * dt;
    pos.y += vel.y * dt;
    pos.z += vel.z * dt;

    new_position[index] = pos;
    new_velocity[index] = vel;
}

// The rest of this file computes the same step without shared memory.

// Adds the pull of a body of mass m to f; r points from the pulled body to that body.
__device__ void add_pull(float3& f, float3 r, float m, float eps) {
    float inv_dist = 1.0f / sqrtf(r.x * r.x + r.y * r.y + r.z * r.z + eps * eps);
    float s = m * inv_dist * inv_dist * inv_dist;

    f.x += r.x * s;
    f.y += r.y * s;
    f.z += r.z * s;
}

// Vector is float3 or float4, whose w is left as it is.
template <class Vector>
__device__ void advance(Vector& pos, Vector& vel, float3 f, float dt) {
    vel.x += f.x * dt;
    vel.y += f.y * dt;
    vel.z += f.z * dt;
    pos.x += vel.x * dt;
    pos.y += vel.y * dt;
    pos.z += vel.z * dt;
}

// Each thread reads every body from global memory, position and mass with one 16-byte load.
extern "C" __global__ void nbody_float4(float4* new_position, float4* new_velocity,
                                        const float4* old_position, const float4* old_velocity,
                                        int n, int begin, float dt, float eps) {
    int index = begin + blockIdx.x * blockDim.x + threadIdx.x;
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

// The same with positions and velocities of 12 bytes, which take three loads each, and the masses
// in an array of their own.
extern "C" __global__ void nbody_float3(float3* new_position, float3* new_velocity,
                                        const float3* old_position, const float3* old_velocity,
                                        const float* mass, int n, int begin, float dt, float eps) {
    int index = begin + blockIdx.x * blockDim.x + threadIdx.x;
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

// nbody_tiled without one of its barriers, or without both.

// Stands where a barrier is left out. It keeps the compiler from moving accesses to the tile across
// it, so that the threads still race in shared memory.
__device__ void keep_order() {
    asm volatile("" ::: "memory");
}

// `load_barrier` and `reuse_barrier` are known when the kernels below are compiled: each has its
// own copy of this function.
__device__ void tiled_without(float4* new_position, float4* new_velocity,
                              const float4* old_position, const float4* old_velocity, int n,
                              int begin, float dt, float eps, bool load_barrier,
                              bool reuse_barrier) {
    extern __shared__ float4 tile[];
    int index = begin + blockIdx.x * blockDim.x + threadIdx.x;
    float4 pos = index < n ? old_position[index] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    float3 f = make_float3(0.0f, 0.0f, 0.0f);

    for (int first = 0; first < n; first += blockDim.x) {
        int count = min((int)blockDim.x, n - first);
        if (threadIdx.x < count) tile[threadIdx.x] = old_position[first + threadIdx.x];
        // Removes the read-after-write hazard between these writes and the reads of the loop.
        if (load_barrier)
            __syncthreads();
        else
            keep_order();
        for (int j = 0; j < count; ++j) {
            float3 r;
            r.x = tile[j].x - pos.x;
            r.y = tile[j].y - pos.y;
            r.z = tile[j].z - pos.z;
            add_pull(f, r, tile[j].w, eps);
        }
        // Removes the write-after-read hazard between these reads and the writes of the next tile.
        if (reuse_barrier)
            __syncthreads();
        else
            keep_order();
    }

    if (index >= n) return;
    float4 vel = old_velocity[index];
    advance(pos, vel, f, dt);
    new_position[index] = pos;
    new_velocity[index] = vel;
}

extern "C" __global__ void nbody_no_load_barrier(float4* new_position, float4* new_velocity,
                                                 const float4* old_position,
                                                 const float4* old_velocity, int n, int begin,
                                                 float dt, float eps) {
    tiled_without(new_position, new_velocity, old_position, old_velocity, n, begin, dt, eps, false,
                  true);
}

extern "C" __global__ void nbody_no_reuse_barrier(float4* new_position, float4* new_velocity,
                                                  const float4* old_position,
                                                  const float4* old_velocity, int n, int begin,
                                                  float dt, float eps) {
    tiled_without(new_position, new_velocity, old_position, old_velocity, n, begin, dt, eps, true,
                  false);
}

extern "C" __global__ void nbody_no_barriers(float4* new_position, float4* new_velocity,
                                             const float4* old_position, const float4* old_velocity,
                                             int n, int begin, float dt, float eps) {
    tiled_without(new_position, new_velocity, old_position, old_velocity, n, begin, dt, eps, false,
                  false);
}
