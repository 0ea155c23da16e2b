#pragma once

#include <cstdint>
#include <string>

#include "emulator/observe/findings.h"
#include "emulator/program/module.h"

namespace warpscope::emulator {

/// Returns the order in which one thread executes two instructions of an epoch.
AccessOrder program_order(const Kernel& kernel, std::uint32_t first, std::uint32_t second);

/// The accesses Finding::first and Finding::second, as indices into Kernel::code.
struct AccessPair {
    const Kernel& kernel;
    std::uint32_t first, second;
    bool is_reversed;  ///< the program executes the second one first
};

/// Says where a barrier of this scope is missing between the two accesses of `finding`:
/// "__syncthreads() is missing between a.cu:7 and a.cu:9". Sets Finding::barrier where one can
/// order them.
std::string missing_barrier(Finding& finding, const AccessPair& pair, BarrierScope scope);

}  // namespace warpscope::emulator
