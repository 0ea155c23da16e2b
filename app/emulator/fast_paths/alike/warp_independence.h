#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "emulator/fast_paths/alike/likeness.h"
#include "emulator/machine/launch_settings.h"

namespace warpscope::emulator {

class Memory;

/// Why the order may be seen in which the warps of a block or the blocks of a launch run, in words;
/// empty where it cannot. What blocks do in global memory is not looked at, because no order of
/// blocks is defined there.
struct Obstacles {
    std::string warps;     ///< why the order of the warps of a block may be seen
    std::string blocks;    ///< why that of the blocks may; never empty where `warps` is not
    bool gave_up = false;  ///< a longer rehearsal might find none
};

/// Steps of warps after which a rehearsal gives up. A launch that comes again, with equal
/// arguments, is worth a long one.
inline constexpr std::uint64_t steps_for_new_launch = 1 << 17, steps_for_known_launch = 1 << 24;

/// Knows the obstacles of the newest launches: see Rehearsal.
class WarpIndependence {
  public:
    const Obstacles& obstacles(const FrozenLaunch& launch, const Memory& memory);

  private:
    /// What the answer depends on, and the answer. It keeps the likeness, so that no later kernel
    /// has its address.
    struct Known {
        SharedLikeness likeness;
        LaunchShape launch;
        std::vector<std::byte> arguments;
        Obstacles obstacles;
        bool came_again = false;
    };
    static bool is_of(const Known& known, const SharedLikeness& likeness,
                      const FrozenLaunch& launch);
    std::vector<Known> newest_;
};

/// Computes the obstacles of a launch anew, as WarpIndependence does for one that it does not
/// remember.
Obstacles obstacles_to_independence(const FrozenLaunch& launch, const Memory& memory,
                                    std::uint64_t most_steps = steps_for_new_launch);

}  // namespace warpscope::emulator
