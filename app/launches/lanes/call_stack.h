#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/debug_scopes.h"
#include "emulator/program/module.h"

namespace warpscope::launches {

/// A function in whose body a lane is.
struct LaneFrame {
    std::string function{};      ///< as the source names it; empty: it is not known
    emulator::FileLine place{};  ///< no file: a line of the PTX
    std::int32_t ptx_line = 0;   ///< of the instruction, or of the call
    std::uint32_t instance = 0;  ///< RegisterInfo::instance
    unsigned inlined = 0;        ///< calls around it that the compiler has inlined
};

/// The functions in whose bodies an instruction is, the innermost first; the last one is the
/// kernel, or a recursive function, which has many callers.
std::vector<LaneFrame> call_stack(const emulator::Kernel& kernel,
                                  const compiler::DebugScopes& scopes, std::uint32_t pc);

}  // namespace warpscope::launches
