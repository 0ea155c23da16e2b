#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <stop_token>
#include <vector>

#include "emulator/machine/policies.h"
#include "emulator/program/module.h"
#include "emulator/warp/launch.h"
#include "emulator/warp/launch_progress.h"

namespace warpscope::emulator {

/// How a launch is emulated.
struct Options {
    Schedule schedule = Schedule::random;
    BarrierPolicy barriers = BarrierPolicy::volta;
    /// The order of the warps cannot be seen (see WarpIndependence). Then Schedule::random runs
    /// each of them to its next barrier, which is faster, unless an observer wants all
    /// instructions.
    bool independent_warps = false;
    /// No block sees what earlier blocks left in shared memory, and each leaves what it alone would
    /// leave (see WarpIndependence). Then host threads take blocks as they come.
    bool independent_blocks = false;
    /// Of a kernel whose atomics reveal the order of the blocks, under an observer: they run from
    /// the last one to the first. Kernels that wait for blocks below theirs do not end then.
    bool reverse_blocks = false;
    std::uint64_t seed = 1;
    std::uint64_t instruction_budget = std::numeric_limits<std::uint64_t>::max();  ///< of warps
    /// Of the whole launch; 0: none. A launch that exceeds it ends with an Error.
    std::chrono::milliseconds time_limit{0};
    std::stop_token stop{};  ///< ends the launch with Stopped; another thread may request it
    std::shared_ptr<LaunchProgress> progress{};  ///< counts the blocks that have ended; or null
    unsigned threads = 0;                        ///< host threads; 0: one for each core
    /// The kernel in compiled form (CompiledKernel::kernel()), which runs where nobody observes the
    /// launch; null: the interpreter runs all of it.
    std::shared_ptr<const Kernel> compiled{};
    /// The kernel in a compiled form that reports its accesses (CompiledForm::reports_accesses),
    /// for a launch with an observer that does not want every instruction; null: the interpreter.
    std::shared_ptr<const Kernel> compiled_with_reports{};
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
    LaunchShape launch;
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
