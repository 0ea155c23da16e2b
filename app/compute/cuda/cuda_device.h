#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "compute/cuda/driver.h"
#include "compute/device/device.h"

namespace warpscope::compute {

/// Makes the device for the GPU `ordinal`, which it uses through the driver API. Throws DeviceError
/// if the GPU can't be used.
std::unique_ptr<Device> make_cuda_device(int ordinal, std::string reason);

/// Page-locks host memory, so that copies between it and the GPU are faster. Does nothing if CUDA
/// refuses. The memory stays page-locked until the process ends.
void pin_host_memory(void* memory, std::size_t bytes) noexcept;

}  // namespace warpscope::compute
