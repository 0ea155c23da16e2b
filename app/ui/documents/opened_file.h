#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compute/device/kernel_edit.h"
#include "emulator/witness/schedule_file.h"
#include "experiments/framework/experiment.h"
#include "experiments/framework/metadata.h"
#include "launches/files/launch_file.h"

namespace warpscope::ui {

/// What a file holds that a person has opened.
struct OpenedFile {
    enum class Kind { bodies, launch, picture, order };
    Kind kind = Kind::bodies;
    std::string path;   ///< absolute
    std::string error;  ///< a sentence where it can't be opened; then the rest is empty
    std::size_t bodies = 0;
    std::string kernel;  ///< the source of the launch file, CUDA C++
    launches::LaunchFile launch;
    /// The order of warps that the file is, or that the launch file names; or null.
    std::shared_ptr<const emulator::ScheduleFile> order;

    // What the metadata of a picture say that Warpscope saved. A picture of a launch has the kind
    // `launch`, and the launch file is the one that the metadata name.
    const experiments::Entry* entry = nullptr;
    std::vector<experiments::Assignment> parameters;
    experiments::Metadata metadata;
    std::string frame;
    compute::Sources sources;  ///< edited kernel sources
};

/// Reads a file of bodies (tipsy or CSV), a kernel source (.cu), a launch file (.launch.json,
/// .wslaunch) with its source, an order of warps (.schedule), or a PNG that Warpscope saved, by the
/// end of its name. A kernel
/// source becomes a launch file: the one beside it, NAME.launch.json, or one without launches. It
/// may take seconds, so it is for a background thread. "~/" is the home folder. Throws nothing.
OpenedFile read_file(const std::string& path);

/// The run settings of a picture; what its metadata do not say stays as in `base`. Throws
/// std::invalid_argument for a value that does not exist.
compute::RunSettings run_settings(const experiments::Metadata& metadata,
                                  const compute::RunSettings& base);

}  // namespace warpscope::ui
