#pragma once

#include <string>

#include "compute/cuda/driver.h"
#include "compute/device/device.h"

namespace warpscope::compute {

/// The GPUs that the driver offers.
struct CudaSurvey {
    int devices = 0;
    std::string reason;  ///< why there are none: "no NVIDIA driver is installed"
};

/// Asks a driver for its GPUs; null: there is no driver. Never throws.
CudaSurvey survey_driver(const CudaDriver* driver);

/// Asks the driver of this machine once in a process. Never throws.
const CudaSurvey& survey_cuda();

/// What the driver says of a GPU. `reason`: why it was chosen. Throws DeviceError.
DeviceInfo cuda_info(CudaDeviceNumber device, int ordinal, std::string reason);

}  // namespace warpscope::compute
