#pragma once

#include <span>
#include <string_view>

#include "compiler/signature.h"

namespace warpscope::experiments {

/// Sets LaunchTraits::memory and what the kernel reads of its launch, of each signature whose
/// kernel is in the PTX, and dynamic_shared where a function that became a part of the kernel uses
/// such memory. Throws LaunchError for a kernel whose arrays in shared memory no block can have.
void read_memory_use(std::string_view ptx, std::span<compiler::Signature> signatures);

}  // namespace warpscope::experiments
