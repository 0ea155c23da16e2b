#pragma once

#include <filesystem>
#include <vector>

#include "experiments/framework/experiment.h"

namespace warpscope::jobs {

/// Writes the parameters, the frame and the bodies of an n-body experiment: the whole file, or the
/// old one stays. Throws std::runtime_error.
void write_checkpoint(const std::filesystem::path& file, experiments::Experiment& experiment);

/// Throws UsageError with one line: the path and what is wrong.
experiments::Snapshot read_checkpoint(const std::filesystem::path& file);

/// The assignments of a run that continues from a checkpoint: the file's, then those `given`.
/// Throws UsageError if they would begin with other bodies.
std::vector<experiments::Assignment> resumed_assignments(
    const experiments::Snapshot& from, const std::vector<experiments::Assignment>& given);

/// The experiment's parameters are set already.
void resume(experiments::Experiment& experiment, const std::filesystem::path& checkpoint);

}  // namespace warpscope::jobs
