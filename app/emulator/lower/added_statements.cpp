#include "emulator/lower/added_statements.h"

namespace warpscope::emulator {

Statement statement(const Statement& at, std::string_view opcode, std::vector<Operand> operands) {
    Statement s;
    const std::size_t dot = opcode.find('.');
    s.name = opcode.substr(0, dot);
    while (opcode.find('.') != opcode.npos) {
        opcode.remove_prefix(opcode.find('.') + 1);
        s.modifiers.emplace_back(opcode.substr(0, opcode.find('.')));
    }
    s.opcode = &find_opcode(s.name, s.modifiers);
    s.operands = std::move(operands);
    s.source = at.source;
    s.text = at.text;
    return s;
}

Statement branch(const Statement& at, const std::string& label, std::int32_t guard, bool negated) {
    Statement s = statement(at, "bra", {symbol_operand(label)});
    s.guard = guard;
    s.guard_negated = negated;
    return s;
}

}  // namespace warpscope::emulator
