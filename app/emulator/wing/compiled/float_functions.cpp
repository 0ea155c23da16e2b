#include "emulator/wing/compiled/float_functions.h"

#include <cmath>

namespace warpscope::emulator {

namespace {

using Value = LlvmValue;
using Sources = const LlvmValue*;

/// One float operand and shorthands for what is done with it.
struct Floats {
    explicit Floats(const Arithmetics& m, Value like)
        : ir(m.ir), type(ir.llvm().TypeOf(like)), fused(m.has_fma), flushes(m.flushes) {}
    Value c(double value) const {
        const Value constant = ir.real(type, value);
        return ir.lanes_of(type) ? ir.in_memory(constant) : constant;
    }
    LlvmType bits() const { return ir.integer(32, ir.lanes_of(type)); }
    Value to_bits(Value a) const { return ir.cast(Ir::bitcast, a, bits()); }
    Value from_bits(Value a) const { return ir.cast(Ir::bitcast, a, type); }
    Value add(Value a, Value b) const { return ir.op(Ir::fadd, a, b); }
    Value sub(Value a, Value b) const { return ir.op(Ir::fsub, a, b); }
    Value mul(Value a, Value b) const { return ir.op(Ir::fmul, a, b); }
    /// With one rounding on every CPU.
    Value fma(Value a, Value b, Value c) const { return ir.intrinsic("fma", type, {a, b, c}); }
    /// As Highway's MulAdd: with one rounding where the CPU has the instruction.
    Value mul_add(Value a, Value b, Value c) const {
        return fused ? fma(a, b, c) : add(mul(a, b), c);
    }
    /// c - a * b
    Value neg_mul_add(Value a, Value b, Value c) const {
        return fused ? fma(ir.fneg(a), b, c) : sub(c, mul(a, b));
    }
    Value abs(Value a) const { return from_bits(ir.op(Ir::and_, to_bits(a), 0x7FFFFFFF)); }
    Value zero_of_sign(Value a) const { return from_bits(ir.op(Ir::and_, to_bits(a), 0x80000000)); }
    Value round(Value a) const { return ir.intrinsic("roundeven", type, {a}); }
    Value is(Ir::FloatOrder order, Value a, Value b) const { return ir.compare(order, a, b); }

    Ir& ir;
    LlvmType type;
    bool fused, flushes;
};

// Replaces a subnormal by the zero of its sign. Not by a comparison with 0: LLVM 19 takes that as
// false for a subnormal, in the flush mode as well.
Value without_subnormals(const Floats& f, Value a) {
    const Value exponent = f.ir.op(Ir::and_, f.to_bits(a), 0x7F800000);
    return f.ir.select(f.ir.compare_with(Ir::eq, exponent, 0), f.zero_of_sign(a), a);
}
// Zeros take the place of subnormals if the CPU's flush mode is on.
Value flushed(const Floats& f, Value a) {
    return f.flushes ? without_subnormals(f, a) : a;
}
Value operand(const Floats& f, const Instruction& i, Value a) {
    return i.modifiers & Instruction::flushes ? without_subnormals(f, a) : a;
}

Value extreme(const Arithmetics& m, Sources s, bool larger) {
    const Floats f(m, s[0]);
    const Value a = s[0], b = s[1];
    const Value zeros =
        f.from_bits(f.ir.op(larger ? Ir::and_ : Ir::or_, f.to_bits(a), f.to_bits(b)));
    const Value otherwise = f.ir.select(f.is(Ir::foeq, a, b), zeros, b);
    const Value found = f.ir.select(f.is(larger ? Ir::fogt : Ir::folt, a, b), a, otherwise);
    return flushed(f, f.ir.select(f.is(Ir::funo, b, b), a, found));
}

Value inverse_root(const Floats& f, Value x) {
    const LlvmType bits = f.bits();
    const Value half = f.ir.op(Ir::lshr, f.to_bits(x), 1);
    Value y = f.from_bits(f.ir.op(Ir::sub, f.ir.number(bits, 0x5F1FFFF9u), half));
    const Value factor = f.fma(f.ir.fneg(f.mul(x, y)), y, f.c(2.38924456f));
    y = f.mul(f.mul(y, f.c(0.703952253f)), factor);
    const Value error = f.fma(f.ir.fneg(f.mul(x, y)), y, f.c(1));
    return f.fma(f.mul(y, error), f.fma(error, f.c(0.375f), f.c(0.5f)), y);
}

Value inverse_root_of_any(const Floats& f, Value a) {
    const Ir& ir = f.ir;
    const Value zero = f.c(0), infinity = f.c(INFINITY);
    const Value small = f.is(Ir::folt, f.abs(a), f.c(0x1p-100f));
    const Value x = ir.select(small, f.mul(a, f.c(0x1p24f)), a);
    Value y = inverse_root(f, x);
    y = ir.select(small, f.mul(y, f.c(0x1p12f)), y);
    y = ir.select(f.is(Ir::foeq, x, infinity), zero, y);
    y = ir.select(f.is(Ir::foge, x, zero), y, f.from_bits(ir.number(f.bits(), 0x7FFFFFFF)));
    const Value signed_infinity =
        f.from_bits(ir.op(Ir::or_, f.to_bits(f.zero_of_sign(a)), f.to_bits(infinity)));
    return ir.select(f.is(Ir::foeq, x, zero), signed_infinity, y);
}

Value sin_reduced(const Floats& f, Value x) {
    const Value s = f.mul(x, x);
    Value p = f.c(2.6083159809786593541503e-06f);
    p = f.mul_add(p, s, f.c(-0.0001981069071916863322258f));
    p = f.mul_add(p, s, f.c(0.00833307858556509017944336f));
    p = f.mul_add(p, s, f.c(-0.166666597127914428710938f));
    return f.mul_add(f.mul(s, x), p, x);
}
Value remove_half_turns(const Floats& f, Value x, Value k) {
    Value r = f.neg_mul_add(k, f.c(3.140625f), x);
    r = f.neg_mul_add(k, f.c(0.0009670257568359375f), r);
    return f.neg_mul_add(k, f.c(6.2771141529083251953e-07f), r);
}
// Towards zero; saturates. NaN: 2147483520. (llvm.fptosi.sat would work lane by lane.)
Value to_signed(const Floats& f, Value a) {
    const Value largest = f.c(2147483520.0), smallest = f.c(-2147483648.0);
    const Value below = f.ir.select(f.is(Ir::folt, a, largest), a, largest);
    const Value bounded = f.ir.select(f.is(Ir::fogt, below, smallest), below, smallest);
    const Value too_large = f.is(Ir::foge, a, f.c(2147483648.0));
    return f.ir.select(too_large, f.ir.number(f.bits(), 0x7FFFFFFF),
                       f.ir.cast(Ir::fptosi, bounded, f.bits()));
}
Value with_sign_of_odd(const Floats& f, Value a, Value k) {
    return f.from_bits(f.ir.op(Ir::xor_, f.to_bits(a), f.ir.op(Ir::shl, to_signed(f, k), 31)));
}

}  // namespace

Value square_root(const Arithmetics& m, const Instruction&, Sources s) {
    return m.ir.intrinsic("sqrt", m.ir.llvm().TypeOf(s[0]), {s[0]});
}

Value reciprocal(const Arithmetics& m, const Instruction&, Sources s) {
    return m.ir.op(Ir::fdiv, m.ir.real(m.ir.llvm().TypeOf(s[0]), 1), s[0]);
}

Value reciprocal_root(const Arithmetics& m, const Instruction& i, Sources s) {
    const Floats f(m, s[0]);
    const Ir& ir = m.ir;
    const Value a = s[0];
    // Positive and normal, by one comparison: neither zero nor subnormal, infinite nor NaN.
    constexpr std::uint32_t smallest = 0x00800000, infinity = 0x7F800000;
    const Value above = ir.op(Ir::sub, f.to_bits(a), smallest);
    const Value ordinary = ir.compare_with(Ir::ult, above, infinity - smallest);
    const LlvmBlock fast = ir.here(), careful = ir.block("rsqrt_of_any"), end = ir.block();
    const Value y = inverse_root(f, a);
    ir.likely(ir.all(ordinary), end, careful);
    ir.go_on_in(careful);
    const bool flushes = i.modifiers & Instruction::flushes;
    const Value z =
        m.ir.call_rarely(flushes ? "rsqrt_of_any_ftz" : "rsqrt_of_any", a,
                         [&](Value x) { return inverse_root_of_any(f, operand(f, i, x)); });
    ir.jump(end);
    ir.go_on_in(end);
    return ir.phi(f.type, {{y, fast}, {z, careful}});
}

Value float_negated(const Arithmetics& m, const Instruction& i, Sources s) {
    const Floats f(m, s[0]);
    return f.from_bits(m.ir.op(Ir::xor_, f.to_bits(operand(f, i, s[0])), 0x80000000));
}

Value float_absolute(const Arithmetics& m, const Instruction& i, Sources s) {
    const Floats f(m, s[0]);
    return f.abs(operand(f, i, s[0]));
}

Value float_smaller(const Arithmetics& m, const Instruction&, Sources s) {
    return extreme(m, s, false);
}
Value float_larger(const Arithmetics& m, const Instruction&, Sources s) {
    return extreme(m, s, true);
}

Value sine(const Arithmetics& m, const Instruction&, Sources s) {
    const Floats f(m, s[0]);
    const Value x = s[0], k = f.round(f.mul(x, f.c(0.318309886183790671538f)));
    const Value y = with_sign_of_odd(f, sin_reduced(f, remove_half_turns(f, x, k)), k);
    return m.ir.select(f.is(Ir::foeq, x, f.c(0)), flushed(f, x), y);
}

Value cosine(const Arithmetics& m, const Instruction&, Sources s) {
    const Floats f(m, s[0]);
    const Value x = s[0], half = f.c(0.5);
    const Value k = f.round(f.mul_add(x, f.c(0.318309886183790671538f), half));
    return with_sign_of_odd(f, sin_reduced(f, remove_half_turns(f, x, f.sub(k, half))), k);
}

Value power_of_two(const Arithmetics& m, const Instruction&, Sources s) {
    const Floats f(m, s[0]);
    const Ir& ir = m.ir;
    const Value x = s[0];
    const Value above = ir.select(f.is(Ir::fogt, x, f.c(-160)), x, f.c(-160));
    const Value bounded = ir.select(f.is(Ir::folt, above, f.c(160)), above, f.c(160));
    const Value whole = f.round(bounded);
    const Value fraction = f.sub(bounded, whole);
    Value p = f.c(1.535336188319500e-4f);
    for (const float c : {1.339887440266574e-3f, 9.618437357674640e-3f, 5.550332471162809e-2f,
                          2.402264791363012e-1f, 6.931472028550421e-1f, 1.0f})
        p = f.mul_add(p, fraction, f.c(c));
    const Value e = ir.cast(Ir::fptosi, whole, f.bits());
    const Value first = ir.op(Ir::ashr, e, 1);
    const auto scale = [&](Value exponent) {
        return f.from_bits(ir.op(Ir::shl, ir.op(Ir::add, exponent, 127), 23));
    };
    const Value y = f.mul(f.mul(p, scale(first)), scale(ir.op(Ir::sub, e, first)));
    return ir.select(f.is(Ir::funo, x, x), x, y);
}

Value integer_from_integer(const Arithmetics& m, const Instruction& i, Sources s) {
    const LlvmType to = m.ir.integer(bits_of(i.type), m.ir.lanes_of(m.ir.llvm().TypeOf(s[0])));
    const unsigned from_bits = bits_of(i.second_type);
    if (bits_of(i.type) == from_bits) return s[0];
    if (bits_of(i.type) < from_bits) return m.ir.cast(Ir::trunc, s[0], to);
    return m.ir.cast(is_signed(i.second_type) ? Ir::sext : Ir::zext, s[0], to);
}

Value float_from_integer(const Arithmetics& m, const Instruction& i, Sources s) {
    const LlvmType to = m.ir.f32(m.ir.lanes_of(m.ir.llvm().TypeOf(s[0])));
    return m.ir.cast(is_signed(i.second_type) ? Ir::sitofp : Ir::uitofp, s[0], to);
}

// PTX: out of range saturates, NaN gives 0.
Value integer_from_float(const Arithmetics& m, const Instruction& i, Sources s) {
    const Floats f(m, s[0]);
    const Ir& ir = m.ir;
    const Value a = s[0], zero = ir.zero(f.bits());
    if (is_signed(i.type)) return ir.select(f.is(Ir::ford, a, a), to_signed(f, a), zero);
    const Value half = f.c(2147483648.0);
    const Value x = ir.select(f.is(Ir::fogt, a, f.c(0)), a, f.c(0));
    const Value large = f.is(Ir::foge, x, half);
    const Value rest = f.sub(x, ir.select(large, half, f.c(0)));
    const Value top = ir.select(large, ir.number(f.bits(), 0x80000000), zero);
    const Value value = ir.op(Ir::or_, to_signed(f, rest), top);
    const Value huge = f.is(Ir::foge, x, f.c(4294967296.0));
    return ir.select(huge, ir.llvm().ConstAllOnes(f.bits()), value);
}

Value nearest_integer_from_float(const Arithmetics& m, const Instruction& i, Sources s) {
    const Value whole = Floats(m, s[0]).round(s[0]);
    return integer_from_float(m, i, &whole);
}

Value nearest_whole(const Arithmetics& m, const Instruction&, Sources s) {
    return Floats(m, s[0]).round(s[0]);
}

}  // namespace warpscope::emulator
