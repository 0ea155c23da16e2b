#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "emulator/async/landing.h"
#include "emulator/machine/policies.h"
#include "emulator/observe/observer.h"
#include "emulator/program/launch_progress.h"
#include "emulator/program/module.h"
#include "emulator/warp/launch.h"

namespace warpscope::emulator {

class BlockEvents;

/// A turn of Schedule::manual: a warp runs until it waits or ends, or before that until it is about
/// to execute an instruction again that it has executed `after` times in this turn.
struct ListedTurn {
    static constexpr std::uint32_t nowhere = ~0u;
    std::uint32_t warp = 0;
    std::uint32_t until = nowhere;  ///< index into Kernel::code, of an instruction or its prefix
    std::uint32_t after = 0;
    bool operator==(const ListedTurn&) const = default;
};

/// The order in which the blocks of a launch run.
enum class GridOrder : std::uint8_t { ascending, reverse, by_seed };

/// What a launch is to be emulated with.
struct LaunchSettings {
    Schedule schedule = Schedule::random;
    BarrierPolicy barriers = BarrierPolicy::volta;
    Landing landing = Landing::random;  ///< of asynchronous copies
    std::vector<HeldCopy> held{};       ///< for Landing::at_once
    /// Blocks of a kernel whose atomics reveal their order run in this order, under an observer:
    /// from the last one to the first, or as the seed says (not those that run together). Kernels
    /// that wait for blocks below theirs do not end then.
    GridOrder block_order = GridOrder::ascending;
    std::uint64_t seed = 1;
    std::uint64_t instruction_budget = std::numeric_limits<std::uint64_t>::max();  ///< of warps
    /// The most time that the launch may take; 0: no limit. A launch that exceeds it ends with
    /// TimedOut.
    std::chrono::milliseconds time_limit{0};
    /// The limit is one of the time in which no block ends, so that it ends no launch that goes on.
    bool limits_time_of_block = false;
    std::stop_token stop{};  ///< ends the launch with Stopped; another thread may request it
    std::shared_ptr<LaunchProgress> progress{};  ///< counts the blocks that have ended; or null
    unsigned threads = 0;                        ///< host threads; 0: one for each core
    /// For Schedule::manual: the first turns of each epoch of a block. A turn is left out if its
    /// warp cannot run.
    std::vector<std::vector<ListedTurn>> turns{};
    std::optional<std::uint32_t> turns_of_block{};  ///< only this one has them; empty: all blocks
    /// For Schedule::manual: all blocks of the launch run together, in the order of turns[0]. A
    /// turn is one of a unit, a warp of any block: see unit_of().
    bool together = false;
    /// Only these blocks run, by linear index: to examine a part of a long launch. All blocks of a
    /// cooperative launch run with its first block.
    std::uint64_t first_block = 0;
    std::uint64_t blocks = std::numeric_limits<std::uint64_t>::max();
};

/// A launch before its first instruction. The kernel's module and the memory must outlive it.
struct FrozenLaunch {
    const Kernel* kernel = nullptr;
    LaunchShape launch;
    std::vector<std::byte> arguments;  ///< packed, see Kernel::parameters
    LaunchSettings settings;
};

/// The most blocks that run together in listed turns, and the most warps that they have in all.
inline constexpr std::uint32_t most_listed_blocks = 4, most_units = 32;
inline std::uint32_t warps_of_block(const LaunchShape& launch) {
    return std::uint32_t((launch.block.count() + 31) / 32);
}
/// A number for a warp of a block among those of all blocks.
inline std::uint32_t unit_of(const LaunchShape& launch, std::uint32_t block, std::uint32_t warp) {
    return block * warps_of_block(launch) + warp;
}
/// Whether the turns of all warps of a launch can be listed.
inline bool can_list_units(const LaunchShape& launch) {
    return launch.grid.count() <= most_listed_blocks &&
           launch.grid.count() * warps_of_block(launch) <= most_units;
}

/// How host threads take the blocks of a launch.
enum class BlockDealing : std::uint8_t {
    by_virtual_sm,  ///< each virtual SM runs its blocks in order
    as_they_come    ///< in any order: no block sees what another one has left in shared memory
};

/// Makes the BlockEvents of a host thread, for a block that `observer` observes.
using MakeBlockEvents = std::function<std::unique_ptr<BlockEvents>(
    Observer& observer, BlockContext& block, const std::stop_token& stop)>;

/// How the machine runs a launch. Each way gives the results, counts and errors of every other one;
/// without a Launcher it is this one.
struct LaunchMethod {
    /// Another form of the kernel, such as a compiled one; null: the kernel as it was decoded.
    std::shared_ptr<const Kernel> code{};
    /// In place of LaunchSettings::schedule.
    std::optional<Schedule> schedule{};
    BlockDealing dealing = BlockDealing::by_virtual_sm;
    MakeBlockEvents make_events{};  ///< null: events are told as they happen
};

}  // namespace warpscope::emulator
