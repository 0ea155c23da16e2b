#pragma once

#include <span>
#include <string_view>

#include "compiler/signature.h"

namespace warpscope::experiments {

/// Sets what the PTX shows about the launches of each signature whose kernel is in it: all of
/// LaunchTraits but the dimensions. Throws LaunchError for a kernel whose arrays in shared memory
/// no block can have.
void read_launch_traits(std::string_view ptx, std::span<compiler::Signature> signatures);

}  // namespace warpscope::experiments
