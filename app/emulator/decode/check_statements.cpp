#include <fmt/format.h>

#include "emulator/decode/kernel_state.h"

namespace warpscope::emulator {

namespace {

void check_operand_count(const KernelState& state, const Statement& s) {
    const OperandRoles& roles = s.opcode->operands;
    const std::size_t count = s.operands.size();
    if (roles.any || (count >= roles.least && count <= roles.count)) return;
    const std::string needed = roles.least == roles.count
                                   ? fmt::format("{}", roles.count)
                                   : fmt::format("{} to {}", roles.least, roles.count);
    fail_at(state, s, fmt::format("{} operands where {} are needed", count, needed));
}

}  // namespace

void check_statements(const KernelState& state) {
    for (const Statement& s : state.syntax.statements) {
        if (s.opcode->operation == Operation::unknown)
            fail_at(state, s, why_unknown(s.name, s.modifiers));
        check_operand_count(state, s);
        if (s.opcode->kind == OpcodeKind::branches &&
            !state.syntax.labels.contains(s.operands[0].name))
            fail_at(state, s, "a branch to an unknown label");
    }
}

}  // namespace warpscope::emulator
