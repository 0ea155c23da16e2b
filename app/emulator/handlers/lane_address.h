#pragma once

#include <cstdint>

#include "emulator/program/access_form.h"
#include "emulator/warp/warp.h"

namespace warpscope::emulator {

/// The address that a lane gives to a load, a store or an atomic.
inline std::uint64_t lane_address(const Instruction* i, const Warp& w, const AccessForm& access,
                                  unsigned lane) {
    const std::uint32_t operand = i->operands[i->detail];
    if (access.wide_address)
        return w.get<std::uint64_t>(operand, lane) + std::uint64_t(i->immediate);
    return w.get<std::uint32_t>(operand, lane) + std::uint32_t(i->immediate);
}

}  // namespace warpscope::emulator
