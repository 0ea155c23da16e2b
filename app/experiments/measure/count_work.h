#pragma once

#include <functional>
#include <optional>

#include "compute/device/device.h"
#include "experiments/framework/report.h"

namespace warpscope::experiments {

/// Calls `launches` and counts the work of the launches that it makes (but not of a
/// SharedMemoryCleaner), for `elements` elements of the experiment. nullopt on a device other than
/// the emulator of this process.
std::optional<Comparison::Counts> count_work(compute::Device& device, double elements,
                                             const std::function<void()>& launches);

}  // namespace warpscope::experiments
