#include "emulator/fast_paths/compiled/arithmetic.h"

#include "emulator/fast_paths/compiled/ir_values.h"
#include "emulator/ptx/opcodes.h"

namespace warpscope::emulator {

namespace ir_values {
namespace {

using Sources = const LlvmValue*;

namespace meaning {
#include "emulator/handlers/operations.def"
}

IrValue source(const Arithmetics& m, const Instruction& i, Sources s, unsigned k) {
    return {&m, s[k], operand_type(i, k + 1)};
}

template <class Meaning, unsigned sources>
LlvmValue make(const Arithmetics& m, const Instruction& i, Sources s) {
    const auto value = [&](unsigned k) { return source(m, i, s, k); };
    if constexpr (sources == 1)
        return Meaning()(value(0)).llvm;
    else if constexpr (sources == 2)
        return Meaning()(value(0), value(1)).llvm;
    else
        return Meaning()(value(0), value(1), value(2)).llvm;
}

template <unsigned sources, class Meaning, TypeSet compiled>
Arithmetics::Make find(Type type) {
    if constexpr (compiled != 0)
        if (contains(compiled, type)) return make<Meaning, sources>;
    return nullptr;
}

// The operations of operations.def.
Arithmetics::Make find_operation(Operation operation, Type type) {
    using namespace types;
    switch (operation) {
#define OPERATION(sources, operation, operands, types, simd, compiled, ...) \
    case Operation::operation:                                              \
        return find<sources, meaning::operation, compiled>(type);
#define FLUSHING(...)
#include "emulator/handlers/operations.def"
        default:
            return nullptr;
    }
}

Arithmetics::Make find_flushing(Operation operation) {
    switch (operation) {
#define OPERATION(...)
#define FLUSHING(operation, ...) \
    case Operation::operation:   \
        return make<meaning::operation##_ftz, 1>;
#include "emulator/handlers/operations.def"
        default:
            return nullptr;
    }
}

LlvmValue truth_table(const Arithmetics& m, const Instruction& i, Sources s) {
    return by_truth_table(source(m, i, s, 0), source(m, i, s, 1), source(m, i, s, 2),
                          unsigned(i.immediate))
        .llvm;
}
LlvmValue moved(const Arithmetics&, const Instruction&, Sources s) {
    return s[0];
}
LlvmValue selected(const Arithmetics& m, const Instruction&, Sources s) {
    return m.ir.select(s[2], s[0], s[1]);
}
LlvmValue compared(const Arithmetics& m, const Instruction& i, Sources s) {
    return compare(Comparison(i.detail), {&m, s[0], i.type}, {&m, s[1], i.type}).llvm;
}

LlvmValue converted_integer(const Arithmetics& m, const Instruction& i, Sources s) {
    const unsigned to = bits_of(i.type), from = bits_of(i.second_type);
    const IrValue a = source(m, i, s, 0);
    if (to == from) return a.llvm;
    if (to < from) return a.cast(Ir::trunc, i.type).llvm;
    return a.cast(is_signed(i.second_type) ? Ir::sext : Ir::zext, i.type).llvm;
}
LlvmValue float_from_integer(const Arithmetics& m, const Instruction& i, Sources s) {
    return to_float(source(m, i, s, 0)).llvm;
}
LlvmValue integer_from_float(const Arithmetics& m, const Instruction& i, Sources s) {
    const IrValue a = source(m, i, s, 0);
    return (is_signed(i.type) ? signed_from_float(a) : unsigned_from_float(a)).llvm;
}
LlvmValue nearest_signed_from_float(const Arithmetics& m, const Instruction& i, Sources s) {
    return signed_from_float(nearest(source(m, i, s, 0))).llvm;
}
LlvmValue double_from_integer(const Arithmetics& m, const Instruction& i, Sources s) {
    const bool has_sign = is_signed(i.second_type);
    return source(m, i, s, 0).cast(has_sign ? Ir::sitofp : Ir::uitofp, Type::f64).llvm;
}
LlvmValue double_from_float(const Arithmetics& m, const Instruction& i, Sources s) {
    return source(m, i, s, 0).cast(Ir::fpext, Type::f64).llvm;
}
LlvmValue float_from_double(const Arithmetics& m, const Instruction& i, Sources s) {
    return source(m, i, s, 0).cast(Ir::fptrunc, Type::f32).llvm;
}
LlvmValue nearest_whole(const Arithmetics& m, const Instruction& i, Sources s) {
    return nearest(source(m, i, s, 0)).llvm;
}

// cvt of 32 and 64 bits, with the roundings that kernels use.
Arithmetics::Make find_conversion(const Instruction& i) {
    const Type to = i.type, from = i.second_type;
    const auto integral = [&](Rounding rounding) {
        return i.detail == (unsigned(rounding) | 8u) || i.detail == unsigned(rounding);
    };
    const bool integers_only = !is_float(to) && !is_float(from);
    if (integers_only) return i.detail & 16 ? nullptr : converted_integer;
    if (to == Type::f64 && from == Type::f32) return i.detail == 0 ? double_from_float : nullptr;
    if (i.detail == unsigned(Rounding::nearest)) {
        if (to == Type::f64 && bits_of(from) == 32) return double_from_integer;
        if (to == Type::f32 && from == Type::f64) return float_from_double;
    }
    if (to == Type::f32 && (from == Type::s32 || from == Type::u32))
        return i.detail == unsigned(Rounding::nearest) ? float_from_integer : nullptr;
    if ((to == Type::s32 || to == Type::u32) && from == Type::f32) {
        if (integral(Rounding::zero)) return integer_from_float;
        return to == Type::s32 && integral(Rounding::nearest) ? nearest_signed_from_float : nullptr;
    }
    if (to == Type::f32 && from == Type::f32)
        return i.detail == (unsigned(Rounding::nearest) | 8u) ? nearest_whole : nullptr;
    return nullptr;
}

}  // namespace
}  // namespace ir_values

Arithmetics::Make find_arithmetic(const Instruction& i) {
    using namespace ir_values;
    constexpr TypeSet numbers =
        types::int_32 | types::int_64 | types::b32 | types::b64 | types::f32_f64;
    if (i.modifiers & Instruction::saturates) return nullptr;
    if (i.operation == Operation::cvt)
        return contains(numbers, i.type) && contains(numbers, i.second_type) ? find_conversion(i)
                                                                             : nullptr;
    const bool is_number = contains(numbers, i.type);
    switch (i.operation) {
        case Operation::lop3:
            return truth_table;
        case Operation::mov:
            return is_number || i.type == Type::pred ? moved : nullptr;
        case Operation::selp:
            return is_number ? selected : nullptr;
        case Operation::setp:
            return is_number ? compared : nullptr;
        default:
            break;
    }
    const Arithmetics::Make make = find_operation(i.operation, i.type);
    const bool flushes = make && i.modifiers & Instruction::flushes;
    const Arithmetics::Make flushing = flushes ? find_flushing(i.operation) : nullptr;
    return flushing ? flushing : make;
}

Type operand_type(const Instruction& i, unsigned k) {
    if (i.operation == Operation::setp && k == 0) return Type::pred;
    if (i.operation == Operation::cvt) return k == 0 ? i.type : i.second_type;
    if (i.operation == Operation::lop3) return Type::b32;
    const OperandRole& role = opcode_of(i.operation).operands.roles[k];
    switch (role.value) {
        case OperandRole::Value::wide:
            return wide_type(i.type);
        case OperandRole::Value::own:
            return role.own;
        default:
            return i.type;
    }
}

unsigned source_count(const Instruction& i) {
    if (i.operation == Operation::lop3) return 3;  // without its table
    return opcode_of(i.operation).operands.least - 1u;
}

}  // namespace warpscope::emulator
