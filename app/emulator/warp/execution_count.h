#pragma once

#include <cstdint>

#include "emulator/warp/warp.h"

namespace warpscope::emulator {

/// Counts what the warps of an observed block execute, by pc of the cost points. A handler takes
/// the cost of its cost point off Warp::left, if it executes it; compiled code, which executes many
/// instructions in one call, counts them itself, but for that of the handler that it may end with
/// (ObservedBlock::last).
class ExecutionCounter {
  public:
    /// A handler is about to run.
    ExecutionCounter(const Instruction* i, const Warp& warp) : warp_(warp), lanes_(warp.mask) {
        warp.block->observed->last = i;
        warp.block->observed->left_before_last = warp.left;
    }
    /// Called after the instruction has run.
    void count() const {
        const ObservedBlock& observed = *warp_.block->observed;
        if (observed.left_before_last == warp_.left) return;
        const Instruction* i = observed.last;
        while (is_prefix(i->role)) ++i;
        ExecutionCount& count = observed.executions[warp_.block->kernel->index_of(i)];
        ++count.warps;
        if (lanes_ != all_lanes) count.idle_lanes += lanes_per_warp - lane_count(lanes_);
        if (is_branch(i->role) && warp_.mask != lanes_) ++count.separations;
    }

  private:
    const Warp& warp_;
    const std::uint32_t lanes_;
};

}  // namespace warpscope::emulator
