#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "compiler/host/host_code.h"
#include "compute/helper/helpers.h"
#include "experiments/launch/launch_plan.h"

namespace warpscope::experiments {

/// A launch file whose kernels are compiled.
struct OpenedLaunch {
    std::shared_ptr<const LaunchPlan> plan;
    std::shared_ptr<const compute::KernelEdit> kernels;  ///< of the source, with all warnings
    std::vector<compiler::LeftOut> left_out;             ///< host code of the source
};

/// Reads the source and compiles its device code, once with debug information for the types of the
/// parameters. Throws LaunchError, compiler::CompileError, compiler::NoCompiler, and DeviceError if
/// the compiler hangs or crashes.
OpenedLaunch open_launch(compute::Helpers& helpers, const LaunchFile& file, compute::Math math,
                         const std::stop_token& stop = {});

}  // namespace warpscope::experiments
