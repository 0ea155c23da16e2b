#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "compute/emulated/emulated_device.h"

namespace warpscope::compute {

/// A block's shared memory at a barrier, and the accesses since the barrier before.
struct BarrierSnapshot {
    std::string barrier;                ///< "kernels/dot.cu:24"
    std::vector<std::byte> shared;      ///< static, then dynamic
    std::vector<std::uint32_t> stored;  ///< linear indices of the threads that stored, ascending
    /// {from, to}, byte offsets: a thread loaded `from` and later stored `to`. Distinct, ascending.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> flows;
};

/// One snapshot for each barrier of block `block` (linear index), in every launch that `launches`
/// makes on the device.
std::vector<BarrierSnapshot> trace_block(EmulatedDevice& device, std::uint32_t block,
                                         const std::function<void()>& launches);

}  // namespace warpscope::compute
