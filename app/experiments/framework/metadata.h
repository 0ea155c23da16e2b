#pragma once

#include <string>
#include <utility>
#include <vector>

#include "experiments/framework/experiment.h"

namespace warpscope::experiments {

/// Keywords and texts, in order, that a picture file holds to say how the picture was made.
using Metadata = std::vector<std::pair<std::string, std::string>>;

/// Describes the experiment's current frame: every parameter ("ripple.sync"), device, math,
/// schedule, seed, barrier policy, frame, and the "command" that makes the picture again.
/// "reproducible" says whether the command gives an equal picture. It does not if the kernel races
/// on a GPU, if a parameter changed after frame 0, or if no command can load an edit. The
/// texts of edited kernels have their file names as keywords, "kernels/ripple.cu". `size` is the
/// size of the window or, with `view_only`, of the view of the picture. Computes the report, which
/// may wait for the device.
Metadata describe(Experiment& experiment, const Entry& entry, Size size, bool view_only);

/// A word for a POSIX shell, in single quotes if it needs them.
std::string shell_word(const std::string& word);

}  // namespace warpscope::experiments
