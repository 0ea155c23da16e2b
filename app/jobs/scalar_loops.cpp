#include "jobs/scalar_loops.h"

#include <tbb/parallel_for.h>

#include <cmath>

namespace warpscope::jobs {

namespace {

constexpr int kSide = 16;
constexpr float kPi = 3.1415926535897932F;

float level(int x, int y) {
    const float period = 128.0F;
    return 255 * (sinf(x * 2.0F * kPi / period) + 1.0F) * (sinf(y * 2.0F * kPi / period) + 1.0F) /
           4.0F;
}

void ripple_tile(std::uint8_t* rgba, int size, int left, int top) {
    float tile[kSide][kSide];
    for (int ty = 0; ty < kSide; ++ty) {
        for (int tx = 0; tx < kSide; ++tx) tile[tx][ty] = level(left + tx, top + ty);
    }
    for (int ty = 0; ty < kSide; ++ty) {
        for (int tx = 0; tx < kSide; ++tx) {
            std::uint8_t* pixel = rgba + (std::size_t(top + ty) * size + left + tx) * 4;
            pixel[0] = 0;
            pixel[1] = static_cast<std::uint8_t>(tile[kSide - 1 - tx][kSide - 1 - ty]);
            pixel[2] = 0;
            pixel[3] = 255;
        }
    }
}

}  // namespace

void scalar_ripple(std::span<std::uint8_t> rgba, int size) {
    tbb::parallel_for(0, size / kSide, [&](int row) {
        for (int left = 0; left < size; left += kSide) {
            ripple_tile(rgba.data(), size, left, row * kSide);
        }
    });
}

void scalar_nbody(std::span<Float4> new_position, std::span<Float4> new_velocity,
                  std::span<const Float4> position, std::span<const Float4> velocity, float dt,
                  float eps) {
    const std::size_t n = position.size();
    tbb::parallel_for(std::size_t(0), n, [&](std::size_t i) {
        Float4 pos = position[i];
        float fx = 0, fy = 0, fz = 0;
        for (std::size_t j = 0; j < n; ++j) {
            const float rx = position[j].x - pos.x;
            const float ry = position[j].y - pos.y;
            const float rz = position[j].z - pos.z;
            const float inv_dist = 1.0F / sqrtf(rx * rx + ry * ry + rz * rz + eps * eps);
            const float s = position[j].w * inv_dist * inv_dist * inv_dist;
            fx += rx * s;
            fy += ry * s;
            fz += rz * s;
        }
        Float4 vel = velocity[i];
        vel.x += fx * dt;
        vel.y += fy * dt;
        vel.z += fz * dt;
        pos.x += vel.x * dt;
        pos.y += vel.y * dt;
        pos.z += vel.z * dt;
        new_position[i] = pos;
        new_velocity[i] = vel;
    });
}

}  // namespace warpscope::jobs
