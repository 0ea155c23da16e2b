#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stop_token>
#include <vector>

#include "emulator/program/module.h"
#include "emulator/warp/launch.h"

namespace warpscope::emulator {

/// The order in which the warps of a block take turns.
///   run_to_barrier  the lowest warp first; each runs until it waits at a barrier or ends
///   reverse         the highest warp first; each runs until it waits at a barrier or ends
///   random_quantum  a random warp for a random number of instructions, both from the seed; see
///                   WarpScheduler::turn_length
///   manual          the first warp of Options::orders that can run, until it waits or ends
enum class Schedule : std::uint8_t { run_to_barrier, reverse, random_quantum, manual };

/// What a barrier waits for. Generations of GPUs differ (CUDA C++ Programming Guide, "Independent
/// Thread Scheduling"; PTX ISA, "bar, barrier").
///   volta         every thread of the block that has not exited
///   before_volta  one arrival of each warp that has not exited. A warp has one program counter, so
///                 the lanes that arrive first count as the whole warp, and the other lanes run
///                 after them.
///   strict        as volta, but it is an error if some lanes of a warp arrive without the others,
///                 as the PTX ISA requires for bar.sync
enum class BarrierPolicy : std::uint8_t { volta, before_volta, strict };

/// How a launch is emulated.
struct Options {
    Schedule schedule = Schedule::random_quantum;
    BarrierPolicy barriers = BarrierPolicy::volta;
    std::uint64_t seed = 1;
    std::uint64_t instruction_budget = std::numeric_limits<std::uint64_t>::max();  ///< of warps
    /// Of the whole launch; 0: none. A launch that exceeds it ends with an Error.
    std::chrono::milliseconds time_limit{0};
    std::stop_token stop{};  ///< ends the launch with an Error; another thread may request it
    unsigned threads = 0;    ///< host threads; 0: one for each core
    /// For Schedule::manual: the order of the warps in each epoch of a block. The last order serves
    /// all later epochs.
    std::vector<std::vector<std::uint32_t>> orders{};
    /// Only these blocks run, by linear index: to examine a part of a long launch.
    std::uint64_t first_block = 0;
    std::uint64_t blocks = std::numeric_limits<std::uint64_t>::max();
};

/// A launch before its first instruction. The kernel's module and the memory must outlive it.
struct FrozenLaunch {
    const Kernel* kernel = nullptr;
    Launch launch;
    std::vector<std::byte> arguments;  ///< packed, see Kernel::parameters
    Options options;
};

struct Statistics {
    std::uint64_t warp_instructions = 0;
    std::uint64_t thread_instructions = 0;
    std::uint64_t barriers = 0;  ///< completed, over all blocks

    Statistics& operator+=(const Statistics& other) {
        warp_instructions += other.warp_instructions;
        thread_instructions += other.thread_instructions;
        barriers += other.barriers;
        return *this;
    }
    Statistics operator-(const Statistics& other) const {
        return {warp_instructions - other.warp_instructions,
                thread_instructions - other.thread_instructions, barriers - other.barriers};
    }
};

}  // namespace warpscope::emulator
