#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "emulator/decode/kernel_state.h"

namespace warpscope::emulator {

/// The elements of a vector {a, b}; of another operand, itself.
inline std::vector<Operand> elements_of(const Operand& o) {
    return o.kind == Operand::vector ? o.elements : std::vector<Operand>{o};
}

/// The operands of one statement as slots of the register file: see Instruction::operands.
class OperandReader {
  public:
    OperandReader(KernelState& state, const Statement& statement)
        : state_(state), statement_(statement) {}

    const Statement& statement() const { return statement_; }
    const Operand& operand(std::size_t k) const { return statement_.operands[k]; }

    /// The slot of a register that the statement writes; 0 for the sink _.
    std::uint32_t destination(const Operand& o) const;
    /// The slot of a value that is read as `type`: a register, constant, special register or the
    /// address of a variable.
    std::uint32_t source(const Operand& o, Type type);
    /// Operand k, read as the type that the opcode table gives it.
    std::uint32_t source(std::size_t k, Type instruction_type);
    Type type_of(std::size_t k, Type instruction_type) const;

    unsigned register_bits(const Operand& o) const;  ///< 0 if the operand is no register
    /// Fails if a register is too narrow for a value of `type`, because the access would reach into
    /// the next register. Also fails if a predicate stands for a number or a number for a
    /// predicate.
    void check_width(const Operand& o, Type type) const;
    Symbol symbol(const Operand& o) const;
    [[noreturn]] void fail(const std::string& what) const { fail_at(state_, statement_, what); }

  protected:
    KernelState& state_;
    const Statement& statement_;
};

}  // namespace warpscope::emulator
