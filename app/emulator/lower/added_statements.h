#pragma once

#include <string>
#include <vector>

#include "emulator/ptx/ptx_syntax.h"

namespace warpscope::emulator {

// The functions below make statements that a transformation adds to a kernel. Each has the text and
// line of the statement `at` that it belongs to.

inline Operand register_operand(std::int32_t index) {
    Operand o;
    o.kind = Operand::register_;
    o.index = index;
    return o;
}

inline Operand number_operand(std::int64_t value) {
    Operand o;
    o.kind = Operand::integer;
    o.value = value;
    return o;
}

inline Operand symbol_operand(std::string name) {
    Operand o;
    o.kind = Operand::symbol;
    o.name = std::move(name);
    return o;
}

inline Operand address_operand(Operand base, std::int64_t offset = 0) {
    Operand o;
    o.kind = Operand::address;
    o.value = offset;
    o.elements.push_back(std::move(base));
    return o;
}

/// `opcode` includes its modifiers: "add.u64".
Statement statement(const Statement& at, std::string_view opcode, std::vector<Operand> operands);
/// Makes "bra label", with a guard if `guard` is a register.
Statement branch(const Statement& at, const std::string& label, std::int32_t guard = -1,
                 bool negated = false);

}  // namespace warpscope::emulator
