#pragma once

#include <cstdint>
#include <span>

namespace warpscope::jobs {

/// What the emulator is measured against: the kernels' sums as plain C++ loops, one element after
/// another, compiled with -O3 -fno-math-errno and run on as many threads as the emulator takes. The
/// expressions stand as the kernels have them, with nothing moved out of the loops.

struct Float4 {
    float x, y, z, w;
};

/// The spheres of kernels/ripple.cu, each 16x16 tile turned by 180 degrees: size*size pixels of
/// r, g, b, a bytes; `size` is a multiple of 16.
void scalar_ripple(std::span<std::uint8_t> rgba, int size);

/// One step of kernels/nbody.cu: `position` carries the mass in w. All spans have one length.
void scalar_nbody(std::span<Float4> new_position, std::span<Float4> new_velocity,
                  std::span<const Float4> position, std::span<const Float4> velocity, float dt,
                  float eps);

}  // namespace warpscope::jobs
