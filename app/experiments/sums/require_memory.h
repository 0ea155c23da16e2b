#pragma once

#include <cstdint>

#include "compute/device/device.h"

namespace warpscope::experiments {

/// Throws OutOfMemory, which names the largest possible n, if the memory of the device is smaller
/// than the inputs of `n` elements.
void require_memory(const compute::Device& device, std::int64_t n, double bytes_per_element);

}  // namespace warpscope::experiments
