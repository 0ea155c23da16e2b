#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "compute/device/device.h"

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

/// Makes copies between host memory and the GPU in use quicker, where CUDA can; it stays so until
/// the process ends.
void pin_host_memory(void* memory, std::size_t bytes) noexcept;

}  // namespace warpscope::compute
