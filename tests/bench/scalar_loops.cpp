#include "bench/scalar_loops.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>

#include <cmath>
#include <functional>

namespace warpscope::bench {

namespace {

constexpr unsigned tile_side = 16;
constexpr float pi = 3.1415926535897932F;

float brightness(unsigned x, unsigned y) {
    const unsigned period = 128;
    const float angle_per_pixel = 2 * pi / period;
    const float across = sinf(x % period * angle_per_pixel) + 1;
    const float down = sinf(y % period * angle_per_pixel) + 1;
    return 255.0F / 4 * across * down;
}

/// The sum of term(0) … term(count - 1).
template <class Term>
double sum_of(std::size_t count, const Term& term) {
    constexpr std::size_t most = 4096;  // terms that are added in float
    const tbb::blocked_range<std::size_t> all(0, count, most);
    return tbb::parallel_deterministic_reduce(
        all, 0.0,
        [&](const tbb::blocked_range<std::size_t>& some, double before) {
            float sum = 0;
            for (std::size_t i = some.begin(); i < some.end(); ++i) sum += term(i);
            return before + double(sum);
        },
        std::plus<>());
}

}  // namespace

void scalar_ripple(std::span<std::uint8_t> rgba, int size) {
    tbb::parallel_for(0, size, [&](int y) {
        for (int x = 0; x < size; ++x) {
            std::uint8_t* pixel = &rgba[(std::size_t(y) * size + x) * 4];
            // The opposite place in the tile: 15 - place.
            const float value =
                brightness(unsigned(x) ^ (tile_side - 1), unsigned(y) ^ (tile_side - 1));
            pixel[0] = 0;
            pixel[1] = static_cast<std::uint8_t>(value);
            pixel[2] = 0;
            pixel[3] = 255;
        }
    });
}

void scalar_nbody(std::span<Float4> new_position, std::span<Float4> new_velocity,
                  std::span<const Float4> position, std::span<const Float4> velocity, float dt,
                  float eps) {
    const std::size_t n = position.size();
    tbb::parallel_for(std::size_t(0), new_position.size(), [&](std::size_t i) {
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

double scalar_dot(std::span<const float> a, std::span<const float> b) {
    return sum_of(a.size(), [&](std::size_t i) { return a[i] * b[i]; });
}

double scalar_sum(std::span<const float> x) {
    return sum_of(x.size(), [&](std::size_t i) { return x[i]; });
}

}  // namespace warpscope::bench
