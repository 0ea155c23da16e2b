#pragma once

#include <cstdint>

#include "emulator/warp/dim3.h"

namespace warpscope::emulator {

/// The launch configuration of a kernel.
struct LaunchShape {
    Dim3 grid, block;
    std::uint32_t dynamic_shared_bytes = 0;
    bool cooperative = false;  ///< all blocks run together, as with cudaLaunchCooperativeKernel()
};

}  // namespace warpscope::emulator
