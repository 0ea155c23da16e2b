#pragma once

#include <optional>
#include <stop_token>

#include "experiments/launch/open_launch.h"

namespace warpscope::jobs {

/// Compiles the kernels of a launch file. Prints what was left out of the source and the compiler's
/// messages to standard error. nullopt if the source does not compile. Throws what open_launch()
/// throws, except CompileError.
std::optional<experiments::OpenedLaunch> compile_launch(compute::Helpers& helpers,
                                                        const experiments::LaunchFile& file,
                                                        compute::Math math,
                                                        const std::stop_token& stop = {});

}  // namespace warpscope::jobs
