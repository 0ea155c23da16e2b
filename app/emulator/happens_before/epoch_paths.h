#pragma once

#include <cstdint>
#include <vector>

#include "emulator/program/module.h"

namespace warpscope::emulator {

/// By index into Kernel::code: one thread can execute the instruction after instruction `from`, in
/// the same epoch.
std::vector<bool> reached_in_epoch(const Kernel& kernel, std::uint32_t from);

/// As reached_in_epoch, in any epoch.
std::vector<bool> reached_in_launch(const Kernel& kernel, std::uint32_t from);

}  // namespace warpscope::emulator
