#pragma once

#include <cstdint>
#include <string>

#include "emulator/machine/block_state.h"

namespace warpscope::emulator {

/// "warp 3", "warps 0-2, 5": of a mask.
std::string names_of_warps(std::uint32_t warps);

/// What a thread of a block that hangs waits for: the phase of the mbarrier, what it lacks, and who
/// should have brought it. "for phase 3 of the mbarrier at byte 64 of shared memory, which lacks 1
/// of 32 arrivals (warp 0 arrived in phase 2 and has ended)".
std::string awaited_phase(const BlockState& block, const Mbarrier& barrier);

}  // namespace warpscope::emulator
