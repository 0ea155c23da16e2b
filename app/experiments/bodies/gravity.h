#pragma once

#include <cstddef>
#include <span>
#include <stop_token>
#include <vector>

#include "experiments/bodies/bodies.h"

namespace warpscope::experiments {

/// Gravity on one body in double precision.
struct Pull {
    Vector acceleration{};
    double magnitude = 0;  ///< sum of the lengths of all pulls: the scale of rounding errors
};

/// Accelerations of the bodies `which` by the gravity of all bodies, softened by eps: the reference
/// for the kernels, which shares no code with them. O(which * bodies), on all cores. Throws
/// compute::Cancelled soon after a stop request.
std::vector<Pull> reference_pulls(const Bodies& bodies, double eps,
                                  std::span<const std::size_t> which,
                                  const std::stop_token& stop = {});

struct Energy {
    double kinetic = 0;
    double potential = 0;  ///< -sum over pairs of m m / sqrt(r^2 + eps^2)
    double total() const { return kinetic + potential; }
};

/// Computes the energy in double precision, on all cores. The value does not depend on their
/// number. With fewer than all bodies in the `sample`, the potential is estimated: from every body
/// with more than a `sample`-th of the mass, and from about `sample` of the others, evenly spaced.
/// O(sample * bodies). Throws compute::Cancelled soon after a stop request.
Energy energy(const Bodies& bodies, double eps, std::size_t sample,
              const std::stop_token& stop = {});
/// Computes the energy from all pairs of bodies: O(bodies^2 / 2).
Energy energy(const Bodies& bodies, double eps, const std::stop_token& stop = {});

}  // namespace warpscope::experiments
