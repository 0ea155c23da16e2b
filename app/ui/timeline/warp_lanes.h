#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "emulator/stepper/stepper.h"
#include "experiments/framework/report.h"

namespace warpscope::ui {

/// The activity of a warp in one pixel column of the timeline.
enum class LaneCell : std::uint8_t {
    over,   ///< before its first or after its last instruction
    ready,  ///< able to run, but other warps are running
    computing,
    writing,  ///< writes shared memory; atomics count as writes
    reading,  ///< reads shared memory
    waiting   ///< at a barrier
};

/// Steps that follow each other.
struct StepRange {
    std::uint64_t first = 0, count = 0;
    bool operator==(const StepRange&) const = default;
};

/// The steps of a block as pixel columns: a lane for each warp.
struct WarpLanes {
    unsigned warps = 0, columns = 0;
    std::uint64_t steps = 0;      ///< of the whole block
    StepRange range{};            ///< that all columns together stand for
    std::vector<LaneCell> cells;  ///< index: warp * columns + column
    LaneCell at(unsigned warp, unsigned column) const { return cells[warp * columns + column]; }
};

/// Computes the lanes of a range of the steps; an empty one stands for all. Each column stands for
/// range.count / columns steps, which may be less than one. If a warp has several activities in a
/// column, one is shown: waiting, if it takes at least half of the column; otherwise writing, if
/// there is any write; otherwise reading, if at least a quarter of the warp's steps read; otherwise
/// computing. Rare activities come first so that they stay visible.
WarpLanes warp_lanes(const emulator::Kernel& kernel, std::span<const emulator::Step> history,
                     std::span<const emulator::BarrierWait> waits, unsigned warps, unsigned columns,
                     StepRange range = {});

/// Every step and wait of the block as spans of a timeline, in steps. Steps of a warp that follow
/// each other and do the same are one span.
experiments::Timeline timeline_of(const emulator::Stepper& stepper, std::string title);

}  // namespace warpscope::ui
