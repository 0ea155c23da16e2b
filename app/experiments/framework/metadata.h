#pragma once

#include <string>
#include <utility>
#include <vector>

#include "experiments/framework/experiment.h"

namespace warpscope::experiments {

/// Keywords and texts, in order, that a picture file holds to say how the picture was made.
using Metadata = std::vector<std::pair<std::string, std::string>>;

/// Where the experiment of a picture stood.
struct Described {
    const Entry& entry;
    const ParameterSet& parameters;
    const compute::DeviceInfo& device;
    const compute::RunSettings& run;
    const compute::KernelEdits& edits;
    std::uint64_t frame = 0;
    bool changed_since_reset = false;
    const Report& report;  ///< of this frame, or of one shortly before
};

/// Describes a frame of an experiment: every parameter ("ripple.sync"), device, math,
/// schedule, seed, barrier policy, frame, and the "command" that makes the picture again.
/// "reproducible" says whether the command gives an equal picture. It does not if the kernel races
/// on a GPU, if a parameter changed after frame 0, or if no command can load an edit. The
/// texts of edited kernels have their file names as keywords, "kernels/ripple.cu". `size` is the
/// size of the window or, with `view_only`, of the view of the picture.
Metadata describe(const Described& described, Size size, bool view_only);
/// Describes the current frame. Computes the report, which may wait for the device.
Metadata describe(Experiment& experiment, const Entry& entry, Size size, bool view_only);

/// A word for a POSIX shell, in single quotes if it needs them.
std::string shell_word(const std::string& word);

}  // namespace warpscope::experiments
