#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "emulator/machine/block_state.h"
#include "emulator/machine/launch_settings.h"

namespace warpscope::emulator {

/// Sees that a block does for ever what it does now: each of its warps has places and registers
/// that it had before, and no memory changes. A thread that waits for a word looks so, and one that
/// counts does not. The block is still when also no other block of the launch has done anything
/// new, and each warp that can run has had a turn meanwhile: one of them may end the wait.
class StillWatch {
  public:
    void begin_block() { *this = {}; }
    /// Looks at the block between two turns of its warps. Most calls do not look.
    bool is_still(const BlockState& block, Budget& budget);

  private:
    using Clock = std::chrono::steady_clock;

    bool is_new(const BlockState& block, bool with_memory);

    std::vector<std::unordered_set<std::uint64_t>> seen_;  ///< states of each warp
    std::uint32_t turned_ = 0;  ///< warps that had a turn since something was new, a bit each
    std::optional<std::uint64_t> memory_;  ///< its state, where it was looked at
    unsigned looks_ = 0;                   ///< since something was new
    Clock::time_point next_look_;
};

}  // namespace warpscope::emulator
