#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "compute/device/device.h"

namespace warpscope::experiments {

/// The command of a process of this program that runs a program of somebody else, or the program of
/// a source, and captures its launches in a folder. `options` are of the command line of Warpscope.
std::vector<std::string> program_command(const std::filesystem::path& program,
                                         const std::filesystem::path& folder,
                                         const compute::RunSettings& run,
                                         std::vector<std::string> options = {});

}  // namespace warpscope::experiments
