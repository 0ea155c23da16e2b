#pragma once

#include <cstdint>

#include "emulator/program/module.h"

namespace warpscope::emulator {

/// True where a thread may go on without the value that the shuffle at `pc` gives it: it is used
/// only behind a branch or under a guard, or a select chooses between it and another value, as in
/// `t = __shfl_down_sync(mask, v, d); if (lane + d < n) v += t;`. A look at the code up to the
/// first use, and at the selects that follow it directly.
bool may_be_discarded(const Kernel& kernel, std::uint32_t pc);

}  // namespace warpscope::emulator
