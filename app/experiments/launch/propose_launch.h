#pragma once

#include "compiler/signature.h"
#include "experiments/launch/launch_file.h"

namespace warpscope::experiments {

/// The file with one more launch: of this kernel, with as many threads as elements. Numbers and
/// pointers whose names no scalar and no buffer has get a scalar and a buffer. A kernel with two or
/// more integers gets two dimensions: 16x16 threads a block, and its first integer is the width.
/// Of `variables`, those that the host fills get a buffer.
LaunchFile propose_launch(LaunchFile file, const compiler::Signature& kernel,
                          const std::vector<compiler::ModuleVariable>& variables = {});

}  // namespace warpscope::experiments
