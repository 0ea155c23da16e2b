#pragma once

#include "emulator/machine/launch_settings.h"
#include "emulator/stepper/stepper.h"
#include "emulator/warp/warp.h"

namespace warpscope::emulator {

/// The splits of a warp in terms of the PTX text: without inserted joins and prefixes.
WarpView view_of(const Warp& warp, BarrierPolicy barriers);

}  // namespace warpscope::emulator
