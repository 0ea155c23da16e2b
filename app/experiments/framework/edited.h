#pragma once

#include <string_view>

#include "compute/device/device.h"
#include "experiments/framework/report.h"

namespace warpscope::experiments {

/// Whether an edit of kernels/`file`.cu runs on this device.
bool edited(const compute::Device& device, std::string_view file);

/// The verdict on a result that is compared with a known one. A wrong result of an edited kernel is
/// a finding. A wrong result of a built-in kernel is a failure.
Verdict judged(const compute::Device& device, std::string_view file, bool right);

}  // namespace warpscope::experiments
