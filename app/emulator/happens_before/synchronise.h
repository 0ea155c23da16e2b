#pragma once

#include "emulator/observe/observer.h"

namespace warpscope::emulator {

/// Tells the clocks (ThreadClocks or ScopedClocks) what an access of the given order reads and
/// writes. Addresses of lanes whose access will fail mean nothing.
template <typename Clocks>
void synchronise(const Access& access, MemoryOrder order, Clocks& clocks);

}  // namespace warpscope::emulator
