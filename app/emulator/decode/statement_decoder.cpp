#include "emulator/decode/statement_decoder.h"

#include <fmt/format.h>

#include <algorithm>

#include "emulator/handlers/lane_operations.h"

namespace warpscope::emulator {

Type StatementDecoder::type(std::size_t k) const {
    if (k >= types_.size())
        fail(k == 0 ? "a type is needed" : fmt::format("{} types are needed", k + 1));
    return types_[k];
}

// Adds .sat and .ftz; takes operation and types from the statement unless the emission sets them.
Emission StatementDecoder::completed(Emission e) const {
    if (has("sat")) e.modifiers |= Instruction::saturates;
    if (has("ftz")) e.modifiers |= Instruction::flushes;
    if (e.operation != Operation::unknown) return e;
    e.operation = operation();
    if (!types_.empty()) e.type = types_[0];
    if (types_.size() > 1) e.second_type = types_[1];
    return e;
}

void StatementDecoder::emit(Emission e) {
    emitter_.emit(completed(std::move(e)), float_mode);
}

void StatementDecoder::emit_inserted(Emission e) {
    emitter_.emit_inserted(completed(std::move(e)), float_mode);
}

void StatementDecoder::emit_value(Handler handler, std::uint32_t destination, unsigned bits,
                                  Emission e) {
    if (!handler) fail_form();
    const Operand& into = operand(0);
    if (into.kind == Operand::register_ &&
        state_.register_slots[std::size_t(into.index)] == destination)
        check_width(into, bits == 64 ? Type::b64 : Type::b32);
    e.full = handler;
    if (!is_uniform(destination)) e.masked = masked_handler(bits);
    e.operands.insert(e.operands.begin(), destination);
    emit(std::move(e));
}

void StatementDecoder::emit_predicate(Handler handler, std::uint32_t destination, Emission e) {
    if (!handler) fail_form();
    const Operand& first = operand(0);
    const Operand& d = first.kind == Operand::pair ? first.elements[0] : first;
    const bool uniform =
        d.kind == Operand::register_ && state_.uniformity.uniform[std::size_t(d.index)];
    e.full = handler;
    if (!uniform) e.masked = masked_predicate;
    e.operands.insert(e.operands.begin(), destination);
    emit(std::move(e));
}

OperandKinds kinds_of(const std::vector<std::uint32_t>& operands) {
    OperandKinds kinds;
    kinds.uniform_result = is_uniform(operands[0]);
    for (std::size_t k = 1; k < operands.size(); ++k)
        if (is_uniform(operands[k])) kinds.uniform_sources |= 1u << (k - 1);
    return kinds;
}

void StatementDecoder::emit_arithmetic(const Arithmetic& arithmetic, Type result,
                                       std::vector<std::uint32_t> operands) {
    const Handler handler = arithmetic_handler(arithmetic, kinds_of(operands));
    const std::uint32_t destination = operands[0];
    operands.erase(operands.begin());
    Emission e;
    e.operands = std::move(operands);
    e.operation = arithmetic.operation;
    e.type = arithmetic.type;
    emit_value(handler, destination, std::max(32u, bits_of(result)), std::move(e));
}

std::uint32_t StatementDecoder::predicate_source(const Operand& o) {
    const std::uint32_t p = source(o, Type::pred);
    if (!o.negated) return p;
    Emission e;
    e.full = predicate_not;
    e.operands = {new_predicate(), p};
    e.operation = Operation::not_;
    e.type = Type::pred;
    const std::uint32_t inverse = e.operands[0];
    emitter_.emit_inserted(e);
    return inverse;
}

void StatementDecoder::fail_form() const {
    fail(fmt::format("unknown form of {}", statement_.name));
}

}  // namespace warpscope::emulator
