// One step of the n-body problem, three times the same physics: bodies read straight from global
// memory as float3, as float4, and in tiles through shared memory.
//
// Every body attracts every other one (and itself, with force 0) with G = 1, softened by eps:
//     a_i = sum over j of m_j (x_j - x_i) / (|x_j - x_i|^2 + eps^2)^(3/2)
// and moves by semi-implicit Euler: v += a dt, x += v dt. Old state in, new state out, so no thread
// reads what another one writes. One thread moves one body; any n >= 1 and any block size will do.

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
