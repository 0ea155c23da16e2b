#pragma once

#include <chrono>
#include <stop_token>
#include <vector>

#include "experiments/replicas/specimen.h"

namespace warpscope::experiments {

/// Looks for an order in which each race of the list spoils a result, and sets Finding::witness: an
/// order of the warps of its block or, of a race between blocks, of all blocks of a small launch or
/// else of the two that race. Blocks of a cluster, or of a cooperative launch, stay together.
/// `findings` are those of the launches of `state`, with the names of the emulator; an empty name
/// of a kernel stands for the last launch. Takes about `time`, and an eighth of it for each further
/// block or blocks. Where there is nothing to search, the witness says why. Where a launch file
/// expects numbers, a result is spoilt if one of them is wrong. `progress` counts milliseconds of
/// each search.
void find_witnesses(std::vector<emulator::Finding>& findings, const LaunchState& state,
                    std::chrono::milliseconds time = std::chrono::seconds(2),
                    std::stop_token stop = {},
                    std::shared_ptr<compute::LaunchProgress> progress = {});

}  // namespace warpscope::experiments
