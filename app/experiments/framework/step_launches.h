#pragma once

#include <cstddef>
#include <functional>

#include "compute/device/device.h"

namespace warpscope::experiments {

/// Divides a long step into several launches on a GPU. A launch on a GPU can't be ended, so a
/// person who cancels the step waits for one launch. All other steps are one launch: those on the
/// emulator, whose launches can be ended, those that nobody can cancel, and those of fewer than
/// `long_step` interactions.
class StepLaunches {
  public:
    /// Launches the kernel for bodies begin to begin + count - 1.
    using Launch = std::function<void(std::size_t begin, std::size_t count)>;

    static constexpr double long_step = 65536.0 * 65536.0;
    static constexpr double wanted_seconds = 0.08;  ///< of one launch

    /// Calls `launch` until each of the n bodies was in one call. All counts but the last are
    /// multiples of `unit`, the bodies that fill the multiprocessors once. Throws Cancelled.
    void run(compute::Device& device, std::size_t n, std::size_t unit, const Launch& launch);

    /// Units of the next launch after a launch of `units` units that took `seconds`.
    static std::size_t next_units(std::size_t units, double seconds);

  private:
    std::size_t units_ = 1;
};

}  // namespace warpscope::experiments
