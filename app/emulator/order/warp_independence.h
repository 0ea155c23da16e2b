#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "emulator/machine/launch_options.h"

namespace warpscope::emulator {

class Memory;

/// Knows of the newest launches whether the order of a block's warps can be seen: see Rehearsal.
class WarpIndependence {
  public:
    /// Why the order may be seen; empty if the warps of each block are independent.
    const std::string& obstacle(const FrozenLaunch& launch, const Memory& memory);

  private:
    /// What the answer depends on, and the answer. It keeps the likeness, so that no later kernel
    /// has its address.
    struct Known {
        std::shared_ptr<const BlockLikeness> likeness;
        LaunchShape launch;
        std::vector<std::byte> arguments;
        std::string obstacle;
    };
    static bool is_of(const Known& known, const FrozenLaunch& launch);
    std::vector<Known> newest_;
};

/// obstacle() of a launch that nobody remembers.
std::string obstacle_to_independence(const FrozenLaunch& launch, const Memory& memory);

}  // namespace warpscope::emulator
