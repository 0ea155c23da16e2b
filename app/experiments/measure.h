#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "compute/device.h"

namespace warpscope::experiments {

/// Median device time, in ms, of the newest `launches` launches of a kernel; waits for them.
double newest_median_ms(compute::Device& device, std::string_view kernel, std::size_t launches);

/// Bound of |computed - exact| / (sum of the terms' magnitudes) when no term passes through more
/// than `roundings` float roundings: Higham, "Accuracy and Stability of Numerical Algorithms",
/// section 3.1, gamma_n = n u / (1 - n u) with u = 2^-24.
double float_error_bound(double roundings);

/// Steps of a tree that sums `elements`: ceil(log2(elements)).
int tree_steps(unsigned elements);

/// Zeroes the shared memory of every multiprocessor, so that what a race reads doesn't depend on
/// the kernels that ran before.
class SharedMemoryCleaner {
  public:
    explicit SharedMemoryCleaner(compute::Device& device);
    void launch();

  private:
    compute::Device& device_;
    compute::Kernel<int> kernel_;
};

/// "1 234 567".
std::string grouped(unsigned long long value);

}  // namespace warpscope::experiments
