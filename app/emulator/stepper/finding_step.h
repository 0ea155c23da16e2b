#pragma once

#include <cstdint>
#include <optional>

#include "emulator/stepper/stepper.h"

namespace warpscope::emulator {

/// The position before the access at which to look at a finding of the stepper's block, in its
/// known history: of a race the read, where there is one, before or after the write that it races
/// with. Where no such pair is known (the stepper has another schedule than the check had, the race
/// is one with another block, or a loop polls for long), the position before the thread first
/// accesses the byte at the line, or else before it first executes the line. nullopt: it never
/// does. Moves the stepper.
std::optional<std::uint64_t> step_of(Stepper& stepper, const Finding& finding);

}  // namespace warpscope::emulator
