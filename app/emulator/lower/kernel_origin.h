#pragma once

#include <cstdint>
#include <vector>

#include "emulator/lower/control_flow.h"
#include "emulator/lower/uniformity.h"
#include "emulator/program/module.h"
#include "emulator/ptx/ptx_syntax.h"

namespace warpscope::emulator {

/// What a kernel was decoded from (Kernel::origin), for analyses that look at all of it.
struct KernelOrigin {
    KernelSyntax syntax;
    ControlFlow flow;
    Uniformity uniformity;
    std::vector<std::uint32_t> block_begin;  ///< by basic block: index into Kernel::code
};

/// The statement that an instruction was decoded from; null: the decoder has inserted it, or the
/// statements of the kernel are not those of its syntax.
inline const Statement* statement_at(const Kernel& kernel, std::uint32_t pc) {
    const InstructionInfo& info = kernel.lines[pc];
    const std::vector<Statement>& statements = kernel.origin->syntax.statements;
    const bool has_one =
        !info.pseudo && info.statements > 0 && statements.size() == kernel.statements.size();
    return has_one ? &statements[info.statements - 1] : nullptr;
}

}  // namespace warpscope::emulator
