#include "compute/device/occupancy.h"

#include <algorithm>

#include "emulator/program/lanes.h"

namespace warpscope::compute {

namespace {

using emulator::lanes_per_warp;

constexpr std::uint32_t kib = 1024;
constexpr unsigned most_threads = 1024;
constexpr unsigned sm_registers = 65536, partitions = 4, register_unit = 256, most_registers = 255;

constexpr SmLimits table[] = {
    {"7.5", 75, 32, 16, 64 * kib, 64 * kib, 0, 256},
    {"8.0", 80, 64, 32, 164 * kib, 163 * kib, kib, 128},
    {"8.6", 86, 48, 16, 100 * kib, 99 * kib, kib, 128},
    {"8.9", 89, 48, 24, 100 * kib, 99 * kib, kib, 128},
    {"9.0", 90, 64, 32, 228 * kib, 227 * kib, kib, 128},
    {"10.0", 100, 64, 32, 228 * kib, 227 * kib, kib, 128},
};

constexpr unsigned round_up(unsigned value, unsigned unit) {
    return (value + unit - 1) / unit * unit;
}

// A warp has its registers in one of the partitions.
unsigned room_in_registers(unsigned warps, unsigned registers) {
    if (registers > most_registers) return 0;
    const unsigned of_warp =
        std::max(register_unit, round_up(registers * lanes_per_warp, register_unit));
    return sm_registers / partitions / of_warp * partitions / warps;
}

std::optional<unsigned> room_in_shared(const SmLimits& sm, std::uint32_t bytes) {
    if (bytes > sm.block_shared) return 0;
    const std::uint32_t of_block = round_up(bytes + sm.reserved_shared, sm.shared_unit);
    if (of_block == 0) return {};
    return sm.shared_bytes / of_block;
}

}  // namespace

std::span<const SmLimits> sm_limits() {
    return table;
}

const SmLimits* find_sm_limits(int compute_capability) {
    const auto* const found = std::find_if(std::begin(table), std::end(table), [&](const auto& sm) {
        return sm.compute_capability == compute_capability;
    });
    return found == std::end(table) ? nullptr : found;
}

Occupancy occupancy(const SmLimits& sm, const BlockNeeds& needs) {
    Occupancy result;
    const unsigned warps = (needs.threads + lanes_per_warp - 1) / lanes_per_warp;
    const bool possible = needs.threads >= 1 && needs.threads <= most_threads;
    result.room[std::size_t(OccupancyLimit::warps)] = possible ? sm.warps / warps : 0;
    result.room[std::size_t(OccupancyLimit::blocks)] = sm.blocks;
    if (needs.registers && possible)
        result.room[std::size_t(OccupancyLimit::registers)] =
            room_in_registers(warps, *needs.registers);
    result.room[std::size_t(OccupancyLimit::shared_memory)] =
        room_in_shared(sm, needs.shared_bytes);
    result.blocks = sm.blocks;
    for (const auto& room : result.room)
        if (room) result.blocks = std::min(result.blocks, *room);
    result.warps = result.blocks * warps;
    return result;
}

std::vector<unsigned> warps_by_block_size(const SmLimits& sm, BlockNeeds needs) {
    std::vector<unsigned> warps;
    for (needs.threads = lanes_per_warp; needs.threads <= most_threads;
         needs.threads += lanes_per_warp)
        warps.push_back(occupancy(sm, needs).warps);
    return warps;
}

std::vector<unsigned> warps_by_shared_memory(const SmLimits& sm, BlockNeeds needs) {
    std::vector<unsigned> warps;
    for (needs.shared_bytes = 0; needs.shared_bytes <= sm.block_shared;
         needs.shared_bytes += shared_memory_step)
        warps.push_back(occupancy(sm, needs).warps);
    return warps;
}

const SmLimits& OccupancyWish::sm(int of_device) const {
    constexpr int usual = 90;
    for (const int one : {compute_capability, of_device})
        if (const SmLimits* const known = find_sm_limits(one)) return *known;
    return *find_sm_limits(usual);
}

BlockNeeds OccupancyWish::needs(const KernelTiming& kernel) const {
    BlockNeeds needs{.threads = unsigned(kernel.block.count()),
                     .shared_bytes = kernel.resources.shared_bytes,
                     .registers = {}};
    const auto typed = registers.find(kernel.name);
    if (typed != registers.end())
        needs.registers = typed->second;
    else if (kernel.resources.registers > 0)
        needs.registers = kernel.resources.registers;
    return needs;
}

}  // namespace warpscope::compute
