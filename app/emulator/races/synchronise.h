#pragma once

#include "emulator/machine/observer.h"
#include "emulator/races/thread_clocks.h"

namespace warpscope::emulator {

/// Tells the clocks what an access of the given order reads and writes. Addresses of lanes whose
/// access will fail mean nothing.
void synchronise(const Access& access, MemoryOrder order, ThreadClocks& clocks);

}  // namespace warpscope::emulator
