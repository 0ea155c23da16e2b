#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "emulator/program/module.h"

namespace warpscope::emulator {

/// By index into Kernel::code: one thread can execute the instruction after instruction `from`, in
/// the same epoch.
std::vector<bool> reached_in_epoch(const Kernel& kernel, std::uint32_t from);

/// As reached_in_epoch, in any epoch.
std::vector<bool> reached_in_launch(const Kernel& kernel, std::uint32_t from);

/// As reached_in_epoch, on paths that do not pass an instruction for which `ends` is true.
std::vector<bool> reached_from(const Kernel& kernel, std::uint32_t from,
                               const std::function<bool(std::uint32_t)>& ends);

/// A barrier at which all threads of the block wait.
bool is_full_barrier(const Instruction& instruction);

}  // namespace warpscope::emulator
