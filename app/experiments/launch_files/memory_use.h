#pragma once

#include <span>
#include <string_view>

#include "compiler/signature.h"

namespace warpscope::experiments {

/// Sets LaunchTraits::memory of each signature whose kernel is in the PTX, and
/// LaunchTraits::dynamic_shared where a function that became a part of the kernel uses such memory.
void read_memory_use(std::string_view ptx, std::span<compiler::Signature> signatures);

}  // namespace warpscope::experiments
