#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "compute/helper/helpers.h"
#include "emulator/witness/schedule_file.h"
#include "experiments/framework/experiment.h"
#include "experiments/launch/launch_plan.h"
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

/// Compiles the device code of `source`, once with debug information for the types of the
/// parameters. A file without launches gets a launch of the first kernel (propose_launch); so does
/// one whose kernels were all in the source `before` and are all gone, since a person has put
/// another source in its place. Throws LaunchError, compiler::CompileError, compiler::NoCompiler,
/// and DeviceError if the compiler hangs or crashes.
CompiledEntry compile_launch(compute::Helpers& helpers, const launches::LaunchFile& file,
                             const std::string& source, compute::Math math,
                             const std::stop_token& stop = {},
                             std::span<const compiler::Signature> before = {});

/// compile_launch() for the text of the file's source. Throws LaunchError if it can't be read, and
/// as compile_launch().
CompiledEntry open_launch(compute::Helpers& helpers, const launches::LaunchFile& file,
                          compute::Math math, const std::stop_token& stop = {});

/// The order of warps that a launch file names; null: it names none. Throws LaunchError, with the
/// file and the line.
std::shared_ptr<const emulator::ScheduleFile> read_schedule(const launches::LaunchFile& file);

/// The experiment "launch", whose kernels Entry::compile() compiles.
SharedEntry launch_entry(const launches::LaunchFile& file);

}  // namespace warpscope::experiments
