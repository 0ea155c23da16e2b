#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "emulator/observe/observer.h"
#include "emulator/program/launch.h"
#include "emulator/program/launch_progress.h"
#include "emulator/program/module.h"

namespace warpscope::emulator {

class BlockEvents;

/// A turn of Schedule::manual: a warp runs until it waits or ends, or before that until it is about
/// to execute an instruction again that it has executed `after` times in this turn.
struct ListedTurn {
    static constexpr std::uint32_t nowhere = ~0u;
    std::uint32_t warp = 0;
    std::uint32_t until = nowhere;  ///< index into Kernel::code, of an instruction or its prefix
    std::uint32_t after = 0;
    /// The first access of the turn is a load that gets what its words held before another warp
    /// stored to them last: see OldValues.
    bool reads_old = false;
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
    /// A launch whose threads repeat the same steps, without an end, ends with StillError.
    bool ends_where_still = false;
    std::stop_token stop{};  ///< ends the launch with Stopped; another thread may request it
    std::shared_ptr<LaunchProgress> progress{};  ///< counts the blocks that have ended; or null
    unsigned threads = 0;                        ///< host threads; 0: one for each core
    /// For Schedule::manual: the first turns of each epoch of a block. A turn is left out if its
    /// warp cannot run.
    std::vector<std::vector<ListedTurn>> turns{};
    std::optional<std::uint32_t> turns_of_block{};  ///< only this one has them; empty: all blocks
    bool keeps_old_values = false;                  ///< for ListedTurn::reads_old
    /// For Schedule::manual: these blocks run together, in the order of turns[0], whose warps are
    /// units: see BlockGroup. They are some blocks, the blocks of one cluster or all of the launch,
    /// by linear index, ascending. The others run alone: see OtherBlocks. Empty: all do.
    std::vector<std::uint32_t> together{};
    /// Only these blocks run, by linear index: to examine a part of a long launch. All blocks of a
    /// cooperative launch run with its first block.
    std::uint64_t first_block = 0;
    std::uint64_t blocks = std::numeric_limits<std::uint64_t>::max();
    /// Of these, those for which it is true; null: all. Never for clusters or cooperative ones.
    std::function<bool(std::uint32_t)> runs{};
};

/// A launch before its first instruction. The kernel's module and the memory must outlive it.
struct FrozenLaunch {
    const Kernel* kernel = nullptr;
    LaunchShape launch;
    std::vector<std::byte> arguments;  ///< packed, see Kernel::parameters
    LaunchSettings settings;
    /// The kernel as it is compiled without optimization; null: not known. For the checks.
    const Kernel* unoptimized = nullptr;
};

inline std::uint32_t warps_of_block(const LaunchShape& launch) {
    return std::uint32_t((launch.block.count() + 31) / 32);
}

/// Blocks that run together. Their warps are *units*: numbers from 0 on, block by block.
struct BlockGroup {
    static constexpr std::size_t most_units = 32;
    LaunchShape launch;
    std::vector<std::uint32_t> blocks;  ///< LaunchSettings::together

    std::uint32_t warps() const { return warps_of_block(launch); }  ///< of a block
    std::size_t units() const { return blocks.size() * warps(); }
    Dim3 block_of(std::uint32_t unit) const {
        return index_in(launch.grid, blocks[unit / warps()]);
    }
    std::uint32_t warp_of(std::uint32_t unit) const { return unit % warps(); }
    bool is_whole() const { return blocks.size() == launch.grid.count(); }  ///< the whole launch
    /// The place of a block among them; blocks.size(): it is none of them.
    std::size_t place_of(std::uint32_t block) const {
        return std::size_t(std::ranges::find(blocks, block) - blocks.begin());
    }
};

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

/// What a launch may still use, over all host threads: instructions, time, and no stop request.
class Budget {
  public:
    enum class Verdict : std::uint8_t { within, spent, timed_out, still, stopped };

    explicit Budget(const LaunchSettings& settings)
        : left_(settings.instruction_budget),
          time_(settings.time_limit),
          is_of_block_(settings.limits_time_of_block),
          is_watched_(settings.ends_where_still),
          stop_(settings.stop) {
        restart_time();
        note_change();
    }
    /// Takes warp instructions off what this host thread has paid for, `prepaid`, and off the
    /// budget.
    Verdict spend(std::uint64_t instructions, std::uint64_t& prepaid) {
        if (instructions > prepaid && !pay(instructions - prepaid, prepaid)) return Verdict::spent;
        prepaid -= instructions;
        return counts_instructions_only_ ? Verdict::within : check_time();
    }
    /// The time limit and the stop request.
    Verdict check_time() const {
        if (stop_.stop_requested()) return Verdict::stopped;
        const bool is_over = time_.count() > 0 && Clock::now() > end_.load();
        return is_over ? Verdict::timed_out : Verdict::within;
    }
    void restart_time() { end_ = Clock::now() + time_; }
    void end_block() {
        if (is_of_block_) restart_time();
        if (is_watched_) note_change();
    }
    /// For LaunchSettings::ends_where_still: threads do what they have not done before.
    void note_change() { changed_ = Clock::now(); }
    std::chrono::steady_clock::time_point changed_at() const { return changed_; }
    void set_stop(std::stop_token stop) { stop_ = std::move(stop); }
    /// From now on spend() ignores time and stop request: for a block that a person steps.
    void count_instructions_only() { counts_instructions_only_ = true; }

    std::uint64_t left() const { return left_.load(std::memory_order_relaxed); }
    void set_left(std::uint64_t instructions) {
        left_.store(instructions, std::memory_order_relaxed);
    }

  private:
    using Clock = std::chrono::steady_clock;

    /// Takes at least `missing` instructions off the budget. While much is left, takes more:
    /// threads that all write to one counter after each block would wait for each other.
    bool pay(std::uint64_t missing, std::uint64_t& prepaid) {
        constexpr std::uint64_t much = 1ull << 32, in_advance = 1 << 18;
        std::uint64_t left = left_.load(std::memory_order_relaxed), taken = 0;
        do {
            if (left < missing) return false;
            taken = left >= much && !counts_instructions_only_ ? missing + in_advance : missing;
        } while (!left_.compare_exchange_weak(left, left - taken, std::memory_order_relaxed));
        prepaid += taken;
        return true;
    }

    std::atomic<std::uint64_t> left_;
    std::chrono::milliseconds time_;
    bool is_of_block_, is_watched_;
    std::stop_token stop_;
    std::atomic<Clock::time_point> end_, changed_;
    bool counts_instructions_only_ = false;
};

}  // namespace warpscope::emulator
