#pragma once

#include <cstdint>

#include "emulator/observe/findings.h"
#include "emulator/program/module.h"
#include "emulator/warp/launch.h"

namespace warpscope::emulator {

/// The launch that a check observes: turns indices of the emulator into threads and source lines.
class ObservedLaunch {
  public:
    void begin(const Kernel& kernel, const LaunchShape& launch);
    const Kernel& kernel() const { return *kernel_; }
    const LaunchShape& shape() const { return shape_; }
    /// Threads of one block.
    std::uint32_t threads() const { return std::uint32_t(shape_.block.count()); }
    /// The place of a thread. `thread` is a linear index in its block, `block` one in the grid.
    ThreadAtLine at(std::uint32_t pc, std::uint32_t thread, std::uint32_t block) const;

  private:
    const Kernel* kernel_ = nullptr;
    LaunchShape shape_;
};

}  // namespace warpscope::emulator
