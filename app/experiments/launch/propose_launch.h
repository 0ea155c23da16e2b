#pragma once

#include "compiler/signature.h"
#include "experiments/launch/launch_file.h"

namespace warpscope::experiments {

/// The file with one more launch: of this kernel, with as many threads as elements. Numbers and
/// pointers whose names no scalar and no buffer has get a scalar and a buffer. A kernel with two or
/// more integers gets two dimensions: 16x16 threads a block, and its first integer is the width.
LaunchFile propose_launch(LaunchFile file, const compiler::Signature& kernel);

}  // namespace warpscope::experiments
