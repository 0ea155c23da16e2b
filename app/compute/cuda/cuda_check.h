#pragma once

#include <string_view>

#include "compute/cuda/driver.h"
#include "compute/device/device.h"

namespace warpscope::compute {

/// The driver of this machine. Throws DeviceError if none is installed.
const CudaDriver& cuda();

/// True for errors after which every call of this process fails (cuda.h: "the process must be
/// terminated and relaunched") and for faults of the GPU itself.
bool cuda_is_lost(CudaStatus status);

/// Throws DeviceError if a call has failed; DeviceLost if no later call can succeed. The message
/// names the action `what`, the driver's reason and the line of the call.
void cuda_check(CudaStatus status, std::string_view what, std::string_view file = __builtin_FILE(),
                int line = __builtin_LINE());

}  // namespace warpscope::compute
