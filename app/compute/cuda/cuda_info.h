#pragma once

#include <string>

#include "compute/cuda/driver.h"
#include "compute/device/device.h"

namespace warpscope::compute {

/// What the driver says of a GPU. `reason`: why it was chosen. Throws DeviceError.
DeviceInfo cuda_info(CudaDeviceNumber device, int ordinal, std::string reason);

}  // namespace warpscope::compute
