#pragma once

#include <cstdint>

#include "compute/device/device.h"

namespace warpscope::experiments {

/// How the kernels *_vectorized and *_single_pass of kernels/reduce_ladder.cu and dot_ladder.cu
/// deal n elements to the card: in tiles of 16 a thread, to no more blocks than are wanted, of
/// whole warps.
struct CardGrid {
    /// `threads`: wanted on each multiprocessor, in blocks of `block`, 32 of them at most.
    CardGrid(const compute::DeviceInfo& device, std::int64_t n, unsigned block, unsigned threads);

    compute::LaunchShape shape() const { return {.grid = {blocks}, .block = {block}}; }

    unsigned block;  ///< rounded up to whole warps
    unsigned blocks;
    /// Additions that a term goes through at most until its block's sum is stored.
    double additions;
    /// And from there through the last block's, in the single pass.
    double last_additions;
};

}  // namespace warpscope::experiments
