// Three kernels of the app in OpenCL C, expression by expression, for the comparison with PoCL:
// ripple_txty of kernels/ripple.cu, nbody_tiled of kernels/nbody.cu, and dot_shuffle of
// kernels/dot_ladder.cu.

#define SIDE 16  // of a tile in pixels, and of a block in threads
#define PI 3.1415926535897932f

enum { spheres, rings };

// As in ripple.cu, fast math takes the approximation of the hardware.
float cos_pi(float a) {
#ifdef __FAST_RELAXED_MATH__
    return native_cos(PI * a);
#else
    return cospi(a);
#endif
}

float brightness(int pattern, uint x, uint y, int width, int height, float ticks) {
    if (pattern == spheres) {
        const float step = 2.0f / 128;
        const float across = cos_pi(x * step - 0.5f) + 1, down = cos_pi(y * step - 0.5f) + 1;
        return 255.0f / 4 * across * down;
    }
    const float dx = (float)x - width / 2, dy = (float)y - height / 2;
    const float distance = sqrt(dx * dx + dy * dy) / 10;
    return 128 + 127 * cos_pi((distance - ticks / 7) / PI) / (distance + 1);
}

uint colour(int pattern, float value) {
    const uint shade = min(convert_uint_sat_rtz(value), 255u);
    return 0xff000000u | (pattern == spheres ? shade << 8 : shade * 0x010101u);
}

kernel void ripple(global uint* pixels, int width, int height, float ticks, int pattern) {
    local float tile[SIDE][SIDE];
    const uint tx = get_local_id(0), ty = get_local_id(1);
    const uint x = get_group_id(0) * SIDE + tx, y = get_group_id(1) * SIDE + ty;

    tile[tx][ty] = brightness(pattern, x, y, width, height, ticks);
    barrier(CLK_LOCAL_MEM_FENCE);
    const float value = tile[SIDE - 1 - tx][SIDE - 1 - ty];

    if (x < width && y < height) pixels[y * width + x] = colour(pattern, value);
}

// `tile` has one element for each thread of a block.
kernel void nbody(global float4* new_position, global float4* new_velocity,
                  global const float4* old_position, global const float4* old_velocity, int n,
                  int begin, float dt, float eps, local float4* tile) {
    const int thread = get_local_id(0), threads = get_local_size(0);
    const int index = begin + get_group_id(0) * threads + thread;

    float4 pos = index < n ? old_position[index] : (float4)(0.0f);
    float fx = 0.0f, fy = 0.0f, fz = 0.0f;

    for (int first = 0; first < n; first += threads) {
        const int count = min(threads, n - first);
        if (thread < count) tile[thread] = old_position[first + thread];
        barrier(CLK_LOCAL_MEM_FENCE);

        for (int j = 0; j < count; ++j) {
            const float rx = tile[j].x - pos.x;
            const float ry = tile[j].y - pos.y;
            const float rz = tile[j].z - pos.z;

            const float inv_dist = 1.0f / sqrt(rx * rx + ry * ry + rz * rz + eps * eps);
            const float s = tile[j].w * inv_dist * inv_dist * inv_dist;

            fx += rx * s;
            fy += ry * s;
            fz += rz * s;
        }

        barrier(CLK_LOCAL_MEM_FENCE);
    }

    if (index >= n) return;
    float4 vel = old_velocity[index];
    vel.x += fx * dt;
    vel.y += fy * dt;
    vel.z += fz * dt;

    pos.x += vel.x * dt;
    pos.y += vel.y * dt;
    pos.z += vel.z * dt;

    new_position[index] = pos;
    new_velocity[index] = vel;
}

#define WARP 32
#define MAX_THREADS 1024

// The sum of the values of each group of `lanes` neighbours, in the first of them. The tree is that
// of sum_lanes() in dot_ladder.cu. PoCL 3.1 has no shuffles of sub-groups for CPUs, so the values
// pass through local memory, between barriers of the whole block.
float sum_lanes(float value, uint lanes, local float* values) {
    const uint thread = get_local_id(0);
    for (uint offset = lanes / 2; offset > 0; offset /= 2) {
        values[thread] = value;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (thread % lanes + offset < lanes) value += values[thread + offset];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return value;
}

// A block is a power of two of whole warps.
kernel void dot_product(global const float* a, global const float* b, global float* partial,
                        uint n) {
    local float values[MAX_THREADS], warp_sums[MAX_THREADS / WARP];
    const uint thread = get_local_id(0), warps = get_local_size(0) / WARP;

    float sum = 0;
    for (uint i = get_global_id(0); i < n; i += get_global_size(0)) sum += a[i] * b[i];

    sum = sum_lanes(sum, WARP, values);
    if (thread % WARP == 0) warp_sums[thread / WARP] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    sum = sum_lanes(warp_sums[thread % warps], warps, values);
    if (thread == 0) partial[get_group_id(0)] = sum;
}
