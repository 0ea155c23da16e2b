#pragma once

#include <vector>

#include "emulator/compiled/plan/units.h"

namespace warpscope::emulator {

/// By unit: it is in a loop, between a branch that separates lanes and where they join, so that it
/// may often run for some of them.
std::vector<bool> find_separated_loops(const Units& units);

}  // namespace warpscope::emulator
