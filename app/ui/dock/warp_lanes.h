#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emulator/stepper/stepper.h"

namespace warpscope::ui {

/// What a warp does in one pixel column of the timeline.
enum class LaneCell : std::uint8_t {
    over,   ///< before its first or after its last instruction
    ready,  ///< could go on, but other warps have their turn
    computing,
    writing,  ///< to shared memory, atomics too
    reading,  ///< from shared memory
    waiting   ///< at a barrier
};

/// A block's steps as lanes of pixel columns, one lane a warp.
struct WarpLanes {
    unsigned warps = 0, columns = 0;
    std::uint64_t steps = 0;      ///< that the columns stand for
    std::vector<LaneCell> cells;  ///< [warp * columns + column]
    LaneCell at(unsigned warp, unsigned column) const { return cells[warp * columns + column]; }
};

/// Each column stands for steps / columns steps (or a part of one). Where it holds several of a
/// warp, one stands for all: waiting where that takes half of it; else what is rare in kernels
/// before what is common, so that it stays in sight: any write, then reads that are a quarter of
/// the warp's steps there, then computing.
WarpLanes warp_lanes(const emulator::Kernel& kernel, std::span<const emulator::Step> history,
                     std::span<const emulator::BarrierWait> waits, unsigned warps,
                     unsigned columns);

}  // namespace warpscope::ui
