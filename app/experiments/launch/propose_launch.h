#pragma once

#include <span>

#include "compiler/signature.h"
#include "experiments/launch/launch_file.h"

namespace warpscope::experiments {

/// The file with a launch of the first kernel, for a source that has no launch file yet: a scalar
/// for each number, a buffer for each pointer, as many threads as elements. A kernel with two or
/// more integers gets two dimensions: 16x16 threads a block, and its first integer is the width.
/// Throws LaunchError if there is no kernel.
LaunchFile propose_launch(LaunchFile file, std::span<const compiler::Signature> signatures);

}  // namespace warpscope::experiments
