#pragma once

#include <cstdint>
#include <span>

namespace warpscope::bench {

/// The bench compares the emulator with these: the computations of the kernels as plain C++ loops,
/// one element after another, compiled with -O3 -fno-math-errno and run on as many threads as the
/// emulator uses. The expressions are those of the kernels, with nothing moved out of the loops,
/// except that cos.approx, which the ripple's kernel uses with fast math, becomes sinf of an angle
/// from 0 to 2 pi, the fastest call of libm for it.

struct Float4 {
    float x, y, z, w;
};

/// The spheres of kernels/ripple.cu, each 16x16 tile turned by 180 degrees: size * size pixels of
/// 4 bytes, red, green, blue and alpha; `size` is a multiple of 16.
void scalar_ripple(std::span<std::uint8_t> rgba, int size);

/// One step of kernels/nbody.cu; the w of a position is the mass. The first new_position.size()
/// bodies move; all bodies attract them.
void scalar_nbody(std::span<Float4> new_position, std::span<Float4> new_velocity,
                  std::span<const Float4> position, std::span<const Float4> velocity, float dt,
                  float eps);

/// Sums of up to 4096 neighbours are added in float, one after another, and these sums in double.
double scalar_dot(std::span<const float> a, std::span<const float> b);
double scalar_sum(std::span<const float> x);

}  // namespace warpscope::bench
