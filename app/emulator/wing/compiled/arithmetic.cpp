#include "emulator/wing/compiled/arithmetic.h"

#include <initializer_list>

#include "emulator/handlers/handlers.h"
#include "emulator/ptx/opcodes.h"
#include "emulator/wing/compiled/float_functions.h"

namespace warpscope::emulator {

namespace {

using Value = LlvmValue;
using Sources = const LlvmValue*;

constexpr std::uint32_t set_of(std::initializer_list<Type> types) {
    std::uint32_t set = 0;
    for (const Type t : types) set |= 1u << unsigned(t);
    return set;
}
constexpr std::uint32_t integers_32 = set_of({Type::u32, Type::s32}), bits_32 = set_of({Type::b32});
constexpr std::uint32_t integers_64 = set_of({Type::u64, Type::s64}), bits_64 = set_of({Type::b64});
constexpr std::uint32_t integers = integers_32 | integers_64, bits = bits_32 | bits_64;
constexpr std::uint32_t f32 = set_of({Type::f32}), floats = f32 | set_of({Type::f64});
constexpr std::uint32_t predicates = set_of({Type::pred});
constexpr std::uint32_t signed_32 = set_of({Type::s32});

template <Ir::Binary operation>
Value binary(const Arithmetics& m, const Instruction&, Sources s) {
    return m.ir.op(operation, s[0], s[1]);
}

Value fused(const Arithmetics& m, const Instruction&, Sources s) {
    return m.ir.intrinsic("fma", m.ir.llvm().TypeOf(s[0]), {s[0], s[1], s[2]});
}

Value multiply_add(const Arithmetics& m, const Instruction&, Sources s) {
    return m.ir.op(Ir::add, m.ir.op(Ir::mul, s[0], s[1]), s[2]);
}

LlvmType widened(const Ir& ir, Value a) {
    return ir.integer(64, ir.lanes_of(ir.llvm().TypeOf(a)));
}

Value multiply_wide(const Arithmetics& m, const Instruction& i, Sources s) {
    const LlvmType wide = widened(m.ir, s[0]);
    const Ir::Cast extend = is_signed(i.type) ? Ir::sext : Ir::zext;
    return m.ir.op(Ir::mul, m.ir.cast(extend, s[0], wide), m.ir.cast(extend, s[1], wide));
}

Value multiply_wide_add(const Arithmetics& m, const Instruction& i, Sources s) {
    return m.ir.op(Ir::add, multiply_wide(m, i, s), s[2]);
}

Value multiply_high(const Arithmetics& m, const Instruction& i, Sources s) {
    const Value product = m.ir.op(Ir::lshr, multiply_wide(m, i, s), 32);
    return m.ir.cast(Ir::trunc, product, m.ir.llvm().TypeOf(s[0]));
}

Value smaller(const Arithmetics& m, const Instruction& i, Sources s) {
    return m.ir.intrinsic(is_signed(i.type) ? "smin" : "umin", m.ir.llvm().TypeOf(s[0]),
                          {s[0], s[1]});
}
Value larger(const Arithmetics& m, const Instruction& i, Sources s) {
    return m.ir.intrinsic(is_signed(i.type) ? "smax" : "umax", m.ir.llvm().TypeOf(s[0]),
                          {s[0], s[1]});
}

Value negated(const Arithmetics& m, const Instruction&, Sources s) {
    return m.ir.op(Ir::sub, m.ir.zero(m.ir.llvm().TypeOf(s[0])), s[0]);
}
Value absolute(const Arithmetics& m, const Instruction& i, Sources s) {
    return m.ir.select(m.ir.compare_with(Ir::slt, s[0], 0), negated(m, i, s), s[0]);
}
Value inverted(const Arithmetics& m, const Instruction&, Sources s) {
    return m.ir.not_(s[0]);
}

// Shift amounts are unsigned 32-bit values clamped to the width (PTX ISA 9.7.8, shl and shr).
Value shifted(const Arithmetics& m, const Instruction& i, Sources s) {
    const Ir& ir = m.ir;
    const LlvmType type = ir.llvm().TypeOf(s[0]);
    const unsigned width = bits_of(i.type);
    const Value amount = ir.cast(Ir::zext, s[1], type);
    const bool left = i.operation == Operation::shl;
    if (!left && is_signed(i.type))
        return ir.op(Ir::ashr, s[0],
                     ir.intrinsic("umin", type, {amount, ir.number(type, width - 1)}));
    const Value in_range = ir.compare_with(Ir::ult, amount, width);
    const Value safe = ir.select(in_range, amount, ir.zero(type));
    return ir.select(in_range, ir.op(left ? Ir::shl : Ir::lshr, s[0], safe), ir.zero(type));
}

// The immediate has a bit for each combination of a bit of a, b and c (PTX ISA 9.7.8.6).
Value truth_table(const Arithmetics& m, const Instruction& i, Sources s) {
    const Ir& ir = m.ir;
    Value result = ir.zero(ir.llvm().TypeOf(s[0]));
    for (unsigned row = 0; row < 8; ++row) {
        if (!(std::uint64_t(i.immediate) >> row & 1)) continue;
        const Value a = row & 4 ? s[0] : ir.not_(s[0]), b = row & 2 ? s[1] : ir.not_(s[1]),
                    c = row & 1 ? s[2] : ir.not_(s[2]);
        result = ir.op(Ir::or_, result, ir.op(Ir::and_, ir.op(Ir::and_, a, b), c));
    }
    return result;
}

Value moved(const Arithmetics&, const Instruction&, Sources s) {
    return s[0];
}
Value selected(const Arithmetics& m, const Instruction&, Sources s) {
    return m.ir.select(s[2], s[0], s[1]);
}

Value compared(const Arithmetics& m, const Instruction& i, Sources s) {
    constexpr Ir::Order of_signed[] = {Ir::eq, Ir::ne, Ir::slt, Ir::sle, Ir::sgt, Ir::sge};
    constexpr Ir::Order of_unsigned[] = {Ir::eq, Ir::ne, Ir::ult, Ir::ule, Ir::ugt, Ir::uge};
    constexpr Ir::FloatOrder of_floats[] = {Ir::foeq, Ir::fone, Ir::folt, Ir::fole, Ir::fogt,
                                            Ir::foge, Ir::fueq, Ir::fune, Ir::fult, Ir::fule,
                                            Ir::fugt, Ir::fuge, Ir::ford, Ir::funo};
    if (is_float(i.type)) return m.ir.compare(of_floats[i.detail], s[0], s[1]);
    return m.ir.compare((is_signed(i.type) ? of_signed : of_unsigned)[i.detail], s[0], s[1]);
}

struct Rule {
    Operation operation;
    std::uint32_t types;
    Arithmetics::Make make;
};

constexpr Rule rules[] = {
    {Operation::add, integers, binary<Ir::add>},
    {Operation::sub, integers, binary<Ir::sub>},
    {Operation::mul_lo, integers, binary<Ir::mul>},
    {Operation::mul_hi, integers_32, multiply_high},
    {Operation::mul_wide, integers_32, multiply_wide},
    {Operation::mad_lo, integers, multiply_add},
    {Operation::mad_wide, integers_32, multiply_wide_add},
    {Operation::min, integers, smaller},
    {Operation::max, integers, larger},
    {Operation::neg, signed_32, negated},
    {Operation::abs, signed_32, absolute},
    {Operation::and_, bits | predicates, binary<Ir::and_>},
    {Operation::or_, bits | predicates, binary<Ir::or_>},
    {Operation::xor_, bits | predicates, binary<Ir::xor_>},
    {Operation::not_, bits | predicates, inverted},
    {Operation::lop3, bits_32, truth_table},
    {Operation::shl, bits, shifted},
    {Operation::shr, bits | integers, shifted},
    {Operation::mov, integers | bits | floats | predicates, moved},
    {Operation::selp, integers | bits | floats, selected},
    {Operation::setp, integers | bits | floats, compared},
    {Operation::fadd, floats, binary<Ir::fadd>},
    {Operation::fsub, floats, binary<Ir::fsub>},
    {Operation::fmul, floats, binary<Ir::fmul>},
    {Operation::fma, floats, fused},
    {Operation::fdiv, f32, binary<Ir::fdiv>},
    {Operation::fsqrt, f32, square_root},
    {Operation::frcp, f32, reciprocal},
    {Operation::frsqrt, f32, reciprocal_root},
    {Operation::fneg, f32, float_negated},
    {Operation::fabs, f32, float_absolute},
    {Operation::fmin, f32, float_smaller},
    {Operation::fmax, f32, float_larger},
    {Operation::fsin, f32, sine},
    {Operation::fcos, f32, cosine},
    {Operation::fex2, f32, power_of_two},
};

// cvt of 32 and 64 bits, with the roundings that kernels use.
Arithmetics::Make find_conversion(const Instruction& i) {
    const Type to = i.type, from = i.second_type;
    const auto integral = [&](Rounding rounding) {
        return i.detail == (unsigned(rounding) | 8u) || i.detail == unsigned(rounding);
    };
    const bool integers_only = !is_float(to) && !is_float(from);
    if (integers_only) return i.detail & 16 ? nullptr : integer_from_integer;
    if (to == Type::f32 && (from == Type::s32 || from == Type::u32))
        return i.detail == unsigned(Rounding::nearest) ? float_from_integer : nullptr;
    if ((to == Type::s32 || to == Type::u32) && from == Type::f32) {
        if (integral(Rounding::zero)) return integer_from_float;
        return to == Type::s32 && integral(Rounding::nearest) ? nearest_integer_from_float
                                                              : nullptr;
    }
    if (to == Type::f32 && from == Type::f32)
        return i.detail == (unsigned(Rounding::nearest) | 8u) ? nearest_whole : nullptr;
    return nullptr;
}

bool is_number_of_32_or_64_bits(Type type) {
    return type != Type::f16x2 && bits_of(type) >= 32;
}

}  // namespace

Arithmetics::Make find_arithmetic(const Instruction& i) {
    if (i.modifiers & Instruction::saturates) return nullptr;
    if (i.operation == Operation::cvt)
        return is_number_of_32_or_64_bits(i.type) && is_number_of_32_or_64_bits(i.second_type)
                   ? find_conversion(i)
                   : nullptr;
    for (const Rule& rule : rules)
        if (rule.operation == i.operation && (rule.types >> unsigned(i.type) & 1)) return rule.make;
    return nullptr;
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
    switch (i.operation) {
        case Operation::lop3:
            return 3;
        case Operation::setp:
            return 2;  // without the predicate that it is combined with
        default:
            return opcode_of(i.operation).operands.count - 1u;
    }
}

}  // namespace warpscope::emulator
