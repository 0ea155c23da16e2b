#pragma once

#include <cstdint>
#include <optional>

#include "emulator/stepper/stepper.h"

namespace warpscope::emulator {

/// The position before the access at which to look at a finding of the stepper's block, in its
/// known history: of a race the read, where there is one, before or after the write that it races
/// with. Where no such access is known (the stepper has another schedule than the check had, or the
/// race is one with another block), the position before the thread first executes the line.
/// nullopt: it never does. Moves the stepper.
std::optional<std::uint64_t> step_of(Stepper& stepper, const Finding& finding);

}  // namespace warpscope::emulator
