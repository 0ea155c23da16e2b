#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "jobs/headless/headless.h"

namespace warpscope::jobs {

/// Calls `run` with the checks or counters of the request. A kernel that fails ends the run. With
/// checks, this is not thrown: what they have found up to there is reported.
void run_observed(RunResult& result, compute::Device& device, const HeadlessRequest& request,
                  const std::function<void()>& run);

/// Writes the orders of the witnesses as FOLDER/N.schedule, N being the number of the finding. An
/// empty folder: none. Throws std::runtime_error.
void write_witnesses(const std::vector<emulator::Finding>& findings,
                     const std::filesystem::path& folder);

}  // namespace warpscope::jobs
