#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compute/device/kernel_timings.h"

namespace warpscope::compute {

/// What a multiprocessor (SM) of a compute capability has: CUDA C++ Programming Guide, "Technical
/// Specifications per Compute Capability". All have 65 536 registers of 32 bits in four partitions,
/// which a warp gets in units of 256, and blocks of at most 1024 threads with at most 255 registers
/// each.
struct SmLimits {
    std::string_view name;              ///< "8.6"
    int compute_capability = 0;         ///< 86 for 8.6, as DeviceInfo has it
    unsigned warps = 0;                 ///< the most warps of one SM at a time
    unsigned blocks = 0;                ///< the most blocks of one SM at a time
    std::uint32_t shared_bytes = 0;     ///< bytes of one SM, at the largest carve-out
    std::uint32_t block_shared = 0;     ///< bytes, the most for one block
    std::uint32_t reserved_shared = 0;  ///< bytes that the system uses of each block's share
    std::uint32_t shared_unit = 0;      ///< bytes; shared memory is allocated in multiples of this
};

/// The limits of 7.5, 8.0, 8.6, 8.9, 9.0 and 10.0.
std::span<const SmLimits> sm_limits();
/// Returns nullptr for a compute capability that is not in the table.
const SmLimits* find_sm_limits(int compute_capability);

/// What a launch asks an SM for.
struct BlockNeeds {
    unsigned threads = 0;               ///< threads of a block
    std::uint32_t shared_bytes = 0;     ///< bytes of a block, static and dynamic
    std::optional<unsigned> registers;  ///< registers of a thread; nullopt: unknown, no limit
};

enum class OccupancyLimit : std::uint8_t { warps, blocks, registers, shared_memory };

/// The blocks of one launch that an SM executes at one time. 0 blocks: the launch is not possible.
struct Occupancy {
    unsigned blocks = 0;
    unsigned warps = 0;
    /// The blocks that each resource has room for, by OccupancyLimit; nullopt: no known limit.
    std::array<std::optional<unsigned>, 4> room{};

    /// True where no other resource has room for fewer blocks.
    bool is_limited_by(OccupancyLimit limit) const { return room[std::size_t(limit)] == blocks; }
};

/// Computes the occupancy in the way of CUDA's occupancy calculator (cuda_occupancy.h).
Occupancy occupancy(const SmLimits& sm, const BlockNeeds& needs);

/// Active warps of an SM for blocks of 32, 64, … 1024 threads that need what `needs` says.
std::vector<unsigned> warps_by_block_size(const SmLimits& sm, BlockNeeds needs);
inline constexpr std::uint32_t shared_memory_step = 4096;  ///< bytes
/// Active warps of an SM for blocks with 0, 4, 8, … KiB of shared memory, up to the most for one
/// block, that need what else `needs` says.
std::vector<unsigned> warps_by_shared_memory(const SmLimits& sm, BlockNeeds needs);

/// Of which multiprocessor, and with how many registers, a person wants to know the occupancy.
struct OccupancyWish {
    int compute_capability = 0;                 ///< 0: the device's
    std::map<std::string, unsigned> registers;  ///< of a thread, typed for a kernel

    /// `of_device`: the compute capability of the device, whose limits may be unknown.
    const SmLimits& sm(int of_device) const;
    /// The registers are those that were typed, or that the driver of the GPU knows.
    BlockNeeds needs(const KernelTiming& kernel) const;
};

}  // namespace warpscope::compute
