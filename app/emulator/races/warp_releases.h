#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "emulator/races/grid_strips.h"

namespace warpscope::emulator {

/// Which warp of a block has released and acquired what for other blocks of its cluster, since the
/// warps of the block were ordered last. BlockClocks take a block as a whole; but a thread that
/// arrives at the barrier of the cluster, or at an mbarrier of another block, releases only what
/// comes before its arrival: not what another warp of its block does until that one arrives, nor
/// what the block has done between its first and its last arrival. And only a warp that has waited
/// knows what the others have released.
///
/// Anything that may order some of the warps of a block counts as if it ordered all of them, and
/// what a warp has released at one place, as released at the places of later releases of its block,
/// too.
class WarpReleases {
  public:
    void begin_launch(std::size_t warps) {
        warps_ = warps;
        blocks_.clear();
    }
    /// What follows is of this block, which knows what `seen` names.
    void running_block(std::uint32_t block, std::uint32_t seen) {
        Block& running = blocks_[block];
        if (running.events.empty()) running = {std::vector<Events>(warps_), Events(warps_, seen)};
        running_ = &running;
    }
    void end_block(std::uint32_t block) {
        for (Events& events : blocks_[block].events) events = {};
    }
    /// A warp has begun an event of accesses.
    void begin_event(std::uint32_t warp, std::uint32_t event) {
        Events& own = running_->events[warp];
        if (own.size() < most_events) own.push_back(event);
    }
    std::uint32_t seen(std::uint32_t warp) const { return running_->seen[warp]; }
    /// A warp releases what it has done: what the others have done stays unreleased, at the `time`
    /// behind this release.
    void release(std::uint32_t warp, std::uint32_t time, std::vector<GridEvent>& events) {
        for (std::size_t other = 0; other < warps_; ++other)
            for (const std::uint32_t event : running_->events[other])
                if (other != warp) events[event].time = time;
        running_->events[warp].clear();
    }
    void acquire(std::uint32_t warp, std::uint32_t seen) { running_->seen[warp] = seen; }
    /// All warps of the block know what each of them has done and acquired.
    void order_warps(std::uint32_t seen) {
        for (Events& events : running_->events) events.clear();
        running_->seen.assign(warps_, seen);
    }

  private:
    using Events = std::vector<std::uint32_t>;
    struct Block {
        std::vector<Events> events;  ///< by warp: those that nothing has released
        std::vector<std::uint32_t> seen;
    };
    /// The events of a warp that are kept; later ones count as released.
    static constexpr std::size_t most_events = 4096;

    std::size_t warps_ = 0;
    std::map<std::uint32_t, Block> blocks_;
    Block* running_ = nullptr;
};

}  // namespace warpscope::emulator
