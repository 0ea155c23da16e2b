#pragma once

#include <string>
#include <utility>
#include <vector>

#include "experiments/framework/experiment.h"

namespace warpscope::experiments {

/// Keyword and text, in order: what a saved picture's file says about how it came about.
using Metadata = std::vector<std::pair<std::string, std::string>>;

/// Describes the experiment's current frame: every parameter ("ripple.sync"), device, math,
/// schedule, seed, barrier policy, frame, the "command" that makes the picture again, and under
/// "reproducible" whether it really does: a racy picture from a GPU, or one whose parameters were
/// changed on the way, can't be had again, nor can one of a kernel that was typed. The texts of
/// edited kernels stand under their names, "kernels/ripple.cu". `size` is the window's, or with
/// `view_only` that of the picture's view. Asks for the report, which may wait for the device.
Metadata describe(Experiment& experiment, const Entry& entry, Size size, bool view_only);

/// A word as a POSIX shell takes it, in single quotes where it has to be.
std::string shell_word(const std::string& word);

}  // namespace warpscope::experiments
