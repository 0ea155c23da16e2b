#pragma once

#include <filesystem>
#include <string>

#include "launches/files/launch_file.h"

namespace warpscope::experiments {

/// The launch file at `path` if it ends in .json; the first one of a folder or an archive,
/// NAME.wslaunch, that has the launches of a program; that of the gallery if `path` is the name of
/// one of its kernels, such as "life". Else `path` is a CUDA source, NAME.cu, and the launch file
/// is NAME.launch.json beside it. Where that is missing: one that is not saved and has no launches.
/// Throws LaunchError.
launches::LaunchFile find_launch_file(const std::filesystem::path& path);

/// The text of the file's source. Throws LaunchError.
std::string read_launch_source(const launches::LaunchFile& file);

}  // namespace warpscope::experiments
