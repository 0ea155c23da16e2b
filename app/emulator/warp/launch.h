#pragma once

#include <cstdint>

#include "emulator/warp/dim3.h"

namespace warpscope::emulator {

/// The launch configuration of a kernel.
struct LaunchShape {
    Dim3 grid, block;
    std::uint32_t dynamic_shared_bytes = 0;
};

}  // namespace warpscope::emulator
