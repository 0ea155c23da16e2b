#pragma once

#include <cstdint>

#include "emulator/async/landing.h"  // another policy

namespace warpscope::emulator {

/// The order in which the warps of a block take turns.
///   run_to_barrier  the lowest warp first; each runs until it waits at a barrier or ends
///   reverse         the highest warp first; each runs until it waits at a barrier or ends
///   random          a random warp for a random number of instructions, both from the seed; see
///                   WarpScheduler::begin_turn
///   manual          the turns that LaunchSettings::turns lists for the epoch; then as
///                   run_to_barrier, the next warps first
enum class Schedule : std::uint8_t { random, run_to_barrier, reverse, manual };

/// What a barrier waits for. Generations of GPUs differ (CUDA C++ Programming Guide, "Independent
/// Thread Scheduling"; PTX ISA, "bar, barrier").
///   volta         every thread of the block that has not exited
///   before_volta  one arrival of each warp that has not exited. A warp has one program counter, so
///                 the lanes that arrive first count as the whole warp, and the other lanes run
///                 after them.
///   strict        as volta, but it is an error if some lanes of a warp arrive without the others,
///                 as the PTX ISA requires for bar.sync
enum class BarrierPolicy : std::uint8_t { volta, before_volta, strict };

/// What runs kernels on the emulator.
enum class Execution : std::uint8_t {
    automatic,    ///< the interpreter, until compiled code is ready for a kernel that costs time
    interpreted,  ///< the interpreter always
    compiled      ///< compiled code; launches wait until it is ready
};

}  // namespace warpscope::emulator
