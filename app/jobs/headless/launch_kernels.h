#pragma once

#include <filesystem>
#include <optional>
#include <stop_token>

#include "experiments/launch/open_launch.h"

namespace warpscope::jobs {

/// Reads a launch file and compiles its kernels. Prints what was left out of the source and the
/// compiler's messages to standard error. nullopt if the source does not compile. Throws what
/// read_launch_file() and open_launch() throw, except CompileError.
std::optional<experiments::OpenedLaunch> compile_launch(compute::Helpers& helpers,
                                                        const std::filesystem::path& file,
                                                        compute::Math math,
                                                        const std::stop_token& stop = {});

}  // namespace warpscope::jobs
