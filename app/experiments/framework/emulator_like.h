#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "compute/emulated/emulated_device.h"

namespace warpscope::experiments {

/// An emulator with the settings and the edits of `device`, which its stop request ends too.
/// Launches of edits have limits.
std::unique_ptr<compute::EmulatedDevice> emulator_like(
    const compute::Device& device, std::string reason,
    std::size_t memory_bytes = compute::usual_emulator_memory());

}  // namespace warpscope::experiments
