#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "emulator/stepper/stepper.h"

namespace warpscope::emulator {

/// Returns the position before the access at which to look at a finding of the stepper's block, in
/// its known history. For a race this is the read, if there is one, before or after the write that
/// it races with. If the history has no such access, because the schedule is another one, it is the
/// position before the thread first executes the line. nullopt: the thread never executes it. Moves
/// the stepper.
std::optional<std::uint64_t> step_of(Stepper& stepper, const Finding& finding);

/// Returns the finding of this kind at these source lines, if `findings` have it.
std::optional<Finding> same_in(const std::vector<Finding>& findings, const Finding& wanted);

}  // namespace warpscope::emulator
