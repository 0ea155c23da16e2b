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
struct BarrierMoment {
    std::string barrier;                ///< "kernels/dot.cu:24"
    std::vector<std::byte> shared;      ///< static, then dynamic
    std::vector<std::uint32_t> stored;  ///< linear indices of the threads that stored, ascending
    /// Pairs {from, to} of byte offsets: a thread loaded `from` and later stored `to`. Distinct,
    /// ascending.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> flows;
};

/// A thread's load of a byte offset of shared memory.
struct TracedLoad {
    std::uint32_t address = 0;
    /// No barrier lies between it and a store there by a thread of another warp.
    bool races = false;
};

/// A thread's store, and the loads of the thread since its previous store.
struct TracedStore {
    std::uint32_t thread = 0, address = 0;
    float value = 0;    ///< its first four bytes
    std::string place;  ///< "kernels/dot.cu:64"
    std::vector<TracedLoad> loads;
};

/// What one block does with its shared memory.
struct SharedMemoryTrace {
    std::vector<BarrierMoment> barriers;
    std::vector<TracedStore> stores;  ///< in the order in which they were executed
};

/// Traces block `block` (linear index) of every launch that `launches` makes on the device.
SharedMemoryTrace trace_shared_memory(EmulatedDevice& device, std::uint32_t block,
                                      const std::function<void()>& launches);

}  // namespace warpscope::compute
