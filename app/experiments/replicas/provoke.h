#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

#include "experiments/replicas/specimen.h"

namespace warpscope::experiments {

/// Makes a device that runs these edits of kernels. Throws DeviceError.
using DeviceOf = std::function<std::unique_ptr<compute::Device>(const compute::RunSettings&,
                                                                compute::KernelEdits)>;

/// For each race, launches the kernel of `state` so many times as it is, and so many times with a
/// wait in front of the access that has to come first, in the warp of the finding; for a race
/// between blocks, in its block. Sets Finding::provocation to how often a reading then calls the
/// result wrong. `findings` have the names of the emulator, as in find_witnesses().
void provoke(std::vector<emulator::Finding>& findings, const LaunchState& state, unsigned launches,
             const DeviceOf& make_device, const std::stop_token& stop = {});

}  // namespace warpscope::experiments
