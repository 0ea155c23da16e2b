#pragma once

#include <cstddef>

#include "experiments/bodies/bodies.h"

namespace warpscope::experiments {

inline constexpr float eps = 0.05f;        ///< the softening length
inline constexpr double all_pairs = 1e18;  ///< make_reference() adds up all of them

/// Bodies of different masses, a Plummer sphere otherwise.
inline Bodies uneven(std::size_t n) {
    Bodies bodies = plummer_sphere(n, n);
    for (std::size_t i = 0; i < n; ++i) bodies[i].mass *= float(1 + i % 7);
    return bodies;
}

}  // namespace warpscope::experiments
