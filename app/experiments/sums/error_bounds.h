#pragma once

#include <cstdint>

#include "compute/device/device.h"

namespace warpscope::experiments {

/// Returns a bound of |computed - exact| / (sum of the magnitudes of the terms) if no term goes
/// through more than `roundings` float roundings: Higham, "Accuracy and Stability of Numerical
/// Algorithms", section 3.1, gamma_n = n u / (1 - n u) with u = 2^-24.
double float_error_bound(double roundings);

/// The bound for a library's sum of n terms. The order of its additions is not documented. We
/// assume 256 threads on each multiprocessor that add one term after the other, and then a tree of
/// their sums.
double library_error_bound(const compute::Device& device, std::int64_t n);

/// Returns the steps of a tree that sums `elements`: ceil(log2(elements)).
int tree_steps(unsigned elements);

}  // namespace warpscope::experiments
