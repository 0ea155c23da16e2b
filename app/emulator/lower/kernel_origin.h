#pragma once

#include <cstdint>
#include <vector>

#include "emulator/lower/control_flow.h"
#include "emulator/lower/uniformity.h"
#include "emulator/ptx/ptx_syntax.h"

namespace warpscope::emulator {

/// What a kernel was decoded from (Kernel::origin), for analyses that look at all of it.
struct KernelOrigin {
    KernelSyntax syntax;
    ControlFlow flow;
    Uniformity uniformity;
    std::vector<std::uint32_t> block_begin;  ///< by basic block: index into Kernel::code
};

}  // namespace warpscope::emulator
