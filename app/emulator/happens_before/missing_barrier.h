#pragma once

#include <cstdint>

#include "emulator/observe/findings.h"
#include "emulator/program/module.h"

namespace warpscope::emulator {

/// Returns the order in which one thread executes two instructions of an epoch, or with
/// `over_barriers` of a launch.
AccessOrder program_order(const Kernel& kernel, std::uint32_t first, std::uint32_t second,
                          bool over_barriers = false);

/// The accesses Finding::first and Finding::second, as indices into Kernel::code.
struct AccessPair {
    const Kernel& kernel;
    std::uint32_t first, second;
    bool is_reversed;  ///< the program executes the second one first
};

/// Returns the lines of the two accesses of a race, in the order of the program.
Finding::BarrierPlace place_between(const Finding& finding, bool is_reversed, BarrierScope scope);

/// Says where a barrier of this scope (not `words`) is missing between the two accesses of
/// `finding`:
/// "__syncthreads() is missing between a.cu:7 and a.cu:9". Sets Finding::barrier where one can
/// order them.
files::Sentence missing_barrier(Finding& finding, const AccessPair& pair, BarrierScope scope);

/// Says that a load only guesses (loads_that_guess()). Or that an atomic operation is missing where
/// threads that execute these two at one time lose what others have stored, and sets
/// Finding::needs_atomic; "" elsewhere.
files::Sentence missing_atomic(Finding& finding, const Kernel& kernel, std::uint32_t load,
                               std::uint32_t store);

}  // namespace warpscope::emulator
