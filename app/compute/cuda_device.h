#pragma once

#include <memory>
#include <string>

#include "compute/device.h"

namespace warpscope::compute {

/// What the driver offers to this build.
struct CudaSurvey {
    int devices = 0;
    std::string reason;  ///< why there is none: "no NVIDIA driver is installed"
};

/// Cheap after the first call of the process. Never throws.
const CudaSurvey& survey_cuda();

/// The GPU `ordinal` through the CUDA runtime; throws DeviceError where it can't be used.
std::unique_ptr<Device> make_cuda_device(int ordinal, std::string reason);

}  // namespace warpscope::compute
