#include "emulator/decode/operands.h"

#include <fmt/format.h>

#include <bit>

#include "emulator/warp/warp.h"

namespace warpscope::emulator {

std::uint32_t OperandReader::destination(const Operand& o) const {
    if (o.kind == Operand::sink) return 0;
    if (o.kind != Operand::register_) fail("the destination is not a register");
    return state_.register_slots[std::size_t(o.index)];
}

unsigned OperandReader::register_bits(const Operand& o) const {
    if (o.kind != Operand::register_) return 0;
    return bits_of(state_.syntax.registers[std::size_t(o.index)].type);
}

void OperandReader::check_width(const Operand& o, Type type) const {
    if (o.kind != Operand::register_) return;
    const unsigned bits = register_bits(o), needed = bits_of(type);
    if ((bits == 1) == (needed == 1) && (needed <= 32 || bits >= needed)) return;
    fail(fmt::format("{} has {} bits, and {} are needed", o.name, bits, needed));
}

Symbol OperandReader::symbol(const Operand& o) const {
    if (const auto own = state_.symbols.find(o.name); own != state_.symbols.end())
        return own->second;
    const auto found = state_.module_symbols.find(o.name);
    if (found != state_.module_symbols.end()) return found->second;
    fail(fmt::format("unknown name '{}'", o.name));
}

Type OperandReader::type_of(std::size_t k, Type instruction_type) const {
    const OperandRole& role = statement_.opcode->operands.roles[k];
    switch (role.value) {
        case OperandRole::Value::own:
            return role.own;
        case OperandRole::Value::wide:
            return wide_type(instruction_type);
        case OperandRole::Value::of_instruction:
            break;
    }
    return instruction_type;
}

std::uint32_t OperandReader::source(std::size_t k, Type instruction_type) {
    return source(operand(k), type_of(k, instruction_type));
}

namespace {

// Returns the bits of a float literal as a value of `type`.
std::uint64_t float_bits(const Operand& o, Type type) {
    const auto bits = std::uint64_t(o.value);
    const bool is_single = o.kind == Operand::float32;
    const double value =
        is_single ? double(std::bit_cast<float>(std::uint32_t(bits))) : std::bit_cast<double>(bits);
    if (bits_of(type) == 64) return is_single ? std::bit_cast<std::uint64_t>(value) : bits;
    return is_single ? bits : std::bit_cast<std::uint32_t>(float(value));
}

}  // namespace

std::uint32_t OperandReader::source(const Operand& o, Type type) {
    switch (o.kind) {
        case Operand::register_:
            check_width(o, type);
            return state_.register_slots[std::size_t(o.index)];
        case Operand::integer:
            if (type == Type::pred) return state_.slots.constant(o.value ? all_lanes : 0);
            if (is_float(type)) fail("an integer stands where a float is needed");
            return state_.slots.constant(std::uint64_t(o.value));
        case Operand::float32:
        case Operand::float64:
            return state_.slots.constant(float_bits(o, type));
        case Operand::special: {
            const Special special = special_named(o.name);
            if (special == Special::none)
                fail(fmt::format("unknown special register '{}'", o.name));
            if ((special == Special::is_explicit_cluster) != (type == Type::pred))
                fail(fmt::format("{} is {}", o.name,
                                 type == Type::pred ? "not a predicate" : "a predicate"));
            return state_.slots.special(special);
        }
        case Operand::symbol:
            return state_.slots.constant(symbol(o).address + std::uint64_t(o.value));
        default:
            fail("this operand is not a value");
    }
}

}  // namespace warpscope::emulator
