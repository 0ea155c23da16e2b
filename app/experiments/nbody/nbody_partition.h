#pragma once

#include <cstddef>

#include "compute/device/device.h"

namespace warpscope::experiments {

/// How the kernels from `fast` on divide a step among blocks: column x of the grid computes the
/// forces on the x-th `bodies` * `threads` bodies; row y adds the forces of the y-th share of all
/// bodies.
struct NBodyPartition {
    static constexpr unsigned threads = 256;  ///< of a block, and bodies of a tile
    static constexpr unsigned most_rows = 64;
    /// Blocks of nbody_fast or nbody_several on a multiprocessor: their __launch_bounds__ limit
    /// their registers to fit.
    static constexpr unsigned resident_blocks = 3;

    int bodies = 4;     ///< of a thread: 4 (nbody_fast) or 2 (nbody_fast_small)
    unsigned rows = 1;  ///< wanted; see rows_of

    /// Number of columns of blocks that `moved` bodies take.
    unsigned columns_of(std::size_t moved) const;
    /// Bodies that pull in one row: a whole number of turns of the kernel's inner loop.
    int share_of(std::size_t n) const;
    /// At most `rows`, so that each row has a body.
    unsigned rows_of(std::size_t n) const;
    /// Bytes that the partial forces of all rows take.
    std::size_t partial_bytes(std::size_t n) const;

    /// The fastest one for a device that moves `moved` of n bodies, by a model that agrees with
    /// what was measured on an H200 (docs/ladder.md): whole waves of blocks, and no more rows than
    /// those take. On the emulator, where more rows gain nothing, it has two rows.
    static NBodyPartition best(const compute::DeviceInfo& device, std::size_t n, std::size_t moved);
    static NBodyPartition best(const compute::DeviceInfo& device, std::size_t n) {
        return best(device, n, n);
    }
    /// An upper bound of partial_bytes(n) for each partition that best(device, n) returns.
    static std::size_t most_partial_bytes(std::size_t n);
};

}  // namespace warpscope::experiments
