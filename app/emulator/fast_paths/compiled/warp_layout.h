#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "emulator/fast_paths/alike/alike_events.h"
#include "emulator/warp/warp.h"

// What compiled code needs to know of the emulator's objects.
namespace warpscope::emulator {

/// Offsets, in bytes, of members of Warp, BlockContext and ReportedBlock.
struct WarpLayout {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
    static constexpr std::size_t registers = offsetof(Warp, registers);
    static constexpr std::size_t mask = offsetof(Warp, mask);
    static constexpr std::size_t mode = offsetof(Warp, mode);
    static constexpr std::size_t thread_instructions = offsetof(Warp, thread_instructions);
    static constexpr std::size_t left = offsetof(Warp, left);
    static constexpr std::size_t block = offsetof(Warp, block);
    static constexpr std::size_t stopped_at = offsetof(Warp, stopped_at);
    static constexpr std::size_t entry = offsetof(Warp, entry);
    static constexpr std::size_t waits_for = offsetof(Warp, waits_for);
    static constexpr std::size_t outcome = offsetof(Warp, outcome);
    static constexpr std::size_t index = offsetof(Warp, index);
    static constexpr std::size_t shared = offsetof(BlockContext, shared);
    static constexpr std::size_t shared_bytes = offsetof(BlockContext, shared_bytes);
    static constexpr std::size_t observed = offsetof(BlockContext, observed);
    static constexpr std::size_t wanted = offsetof(ReportedBlock, wanted);
    static constexpr std::size_t executions = offsetof(ReportedBlock, executions);
    static constexpr std::size_t last = offsetof(ReportedBlock, last);
    static constexpr std::size_t left_before_last = offsetof(ReportedBlock, left_before_last);
    static constexpr std::size_t model = offsetof(ReportedBlock, model);
    static constexpr std::size_t next_load = offsetof(ReportedBlock, next_load);
    static constexpr std::size_t loads_end = offsetof(ReportedBlock, loads_end);
    static constexpr std::size_t ranges = offsetof(BlockContext, ranges);
#pragma GCC diagnostic pop
};
static_assert(offsetof(Instruction, handlers) == 0);

/// Warp::in_global() for compiled code; also remembers the allocation.
inline bool range_is_in_global(const Instruction* i, Warp& warp, std::uint64_t low,
                               std::uint64_t high) {
    return warp.in_global(i, low, high);
}

/// Whether the addresses of the running lanes are aligned and lie in one allocation of global
/// memory, which is remembered.
inline bool lanes_are_in_global(const Instruction* i, Warp& warp, const std::uint64_t* addresses) {
    const AccessForm form(i->target);
    const std::uint64_t bytes = form.bytes * form.elements;
    std::uint64_t low = ~std::uint64_t(0), high = 0;
    for (std::uint32_t left = warp.mask; left; left &= left - 1) {
        const std::uint64_t address = addresses[std::countr_zero(left)];
        if (address % bytes) return false;
        low = std::min(low, address);
        high = std::max(high, address);
    }
    const auto from = std::uint64_t(i->immediate);
    return warp.in_global(i, low + from, high + from + bytes);
}

/// The events that compiled code reports to the observer of a block.
constexpr std::uint32_t reported_events = Instruction::shared_access | Instruction::global_access |
                                          Instruction::warp_sync | Instruction::fences;

inline AlikeEvents& events_of(const Warp& warp) {
    return *static_cast<const ReportedBlock*>(warp.block->observed)->events;
}

/// AlikeEvents::report() for compiled code.
inline bool report_access(const Instruction* i, Warp& warp, const std::uint64_t* addresses,
                          std::uint32_t consecutive_lanes) {
    return events_of(warp).report(i, warp, addresses, consecutive_lanes);
}

/// AlikeEvents::report_broadcasts() for compiled code.
inline bool report_broadcasts(Warp& warp) {
    return events_of(warp).report_broadcasts();
}

/// AlikeEvents::announce() for compiled code.
inline void announce_instruction(const Instruction* i, Warp& warp) {
    events_of(warp).announce(i, warp);
}

}  // namespace warpscope::emulator
