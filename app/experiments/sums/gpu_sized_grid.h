#pragma once

#include <cstdint>

#include "compute/device/device.h"

namespace warpscope::experiments {

/// The launch configuration for n elements of the kernels *_vectorized and *_single_pass of
/// reduce_ladder.cu and dot_ladder.cu: each thread takes tiles of 16 elements, and the blocks just
/// fill the GPU.
struct GpuSizedGrid {
    /// `threads` is the number on each multiprocessor, in at most 32 blocks of `block` threads.
    GpuSizedGrid(const compute::DeviceInfo& device, std::int64_t n, unsigned block,
                 unsigned threads);

    compute::LaunchShape shape() const { return {.grid = {blocks}, .block = {block}}; }

    unsigned block;  ///< rounded up to whole warps
    unsigned blocks;
    /// Additions that a term takes part in, at most, until the sum of its block is stored.
    double additions;
    /// Additions that the sum of a block takes part in, at most, in the last block.
    double last_additions;
};

}  // namespace warpscope::experiments
