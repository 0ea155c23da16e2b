#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulator/machine/block_runner.h"
#include "emulator/machine/machine.h"

namespace warpscope::emulator {

/// Runs the blocks whose shared memory a block finds: the earlier blocks of its virtual SM, or all
/// earlier blocks if the kernel is order-dependent. Returns the shared memory of each virtual SM, a
/// copy, so that the machine's own does not change. Throws the errors of the blocks.
std::vector<std::vector<std::byte>> run_earlier_blocks(Machine& machine, const FrozenLaunch& launch,
                                                       std::uint32_t block, BlockRunner& runner,
                                                       Observer& observer);

/// Returns the launch after the checks that Machine::run makes. Throws Error, too, for a block that
/// is not there.
FrozenLaunch checked_launch(const FrozenLaunch& launch, std::uint32_t block);

}  // namespace warpscope::emulator
