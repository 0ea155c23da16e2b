#pragma once

#include <bit>
#include <cmath>

#include "emulator/fast_paths/compiled/arithmetic.h"
#include "emulator/handlers/handlers.h"

namespace warpscope::emulator::ir_values {

/// A value of LLVM IR as a value of handlers/meanings.inc, which explains the functions here: a
/// scalar or a vector. LLVM's types have no sign; the PTX type does.
struct IrValue {
    const Arithmetics* arithmetics;
    LlvmValue llvm;
    Type type;

    Ir& ir() const { return arithmetics->ir; }
    LlvmType llvm_type() const { return ir().llvm().TypeOf(llvm); }
    IrValue with(LlvmValue value) const { return {arithmetics, value, type}; }
    IrValue with(LlvmValue value, Type of) const { return {arithmetics, value, of}; }
    /// Converts to another type with as many lanes.
    IrValue cast(Ir::Cast conversion, Type to) const {
        const unsigned lanes = ir().lanes_of(llvm_type());
        const LlvmType into = to == Type::f32   ? ir().f32(lanes)
                              : to == Type::f64 ? ir().f64(lanes)
                                                : ir().integer(bits_of(to), lanes);
        return with(ir().cast(conversion, llvm, into), to);
    }
    IrValue intrinsic(const char* name, std::initializer_list<LlvmValue> sources) const {
        return with(ir().intrinsic(name, llvm_type(), sources));
    }
};

inline IrValue operation(Ir::Binary of_integers, Ir::Binary of_floats, IrValue a, IrValue b) {
    return a.with(a.ir().op(is_float(a.type) ? of_floats : of_integers, a.llvm, b.llvm));
}
inline IrValue operator+(IrValue a, IrValue b) {
    return operation(Ir::add, Ir::fadd, a, b);
}
inline IrValue operator-(IrValue a, IrValue b) {
    return operation(Ir::sub, Ir::fsub, a, b);
}
inline IrValue operator*(IrValue a, IrValue b) {
    return operation(Ir::mul, Ir::fmul, a, b);
}
inline IrValue operator/(IrValue a, IrValue b) {
    return a.with(a.ir().op(Ir::fdiv, a.llvm, b.llvm));
}

/// The predicates of LLVM for signed and unsigned integers and for floats.
struct Orders {
    Ir::Order of_signed, of_unsigned;
    Ir::FloatOrder of_floats;
};
/// The orders of LLVM for each Comparison.
constexpr Orders orders[] = {{Ir::eq, Ir::eq, Ir::foeq},   {Ir::ne, Ir::ne, Ir::fone},
                             {Ir::slt, Ir::ult, Ir::folt}, {Ir::sle, Ir::ule, Ir::fole},
                             {Ir::sgt, Ir::ugt, Ir::fogt}, {Ir::sge, Ir::uge, Ir::foge},
                             {{}, {}, Ir::fueq},           {{}, {}, Ir::fune},
                             {{}, {}, Ir::fult},           {{}, {}, Ir::fule},
                             {{}, {}, Ir::fugt},           {{}, {}, Ir::fuge},
                             {{}, {}, Ir::ford},           {{}, {}, Ir::funo}};

inline IrValue compare(Comparison comparison, IrValue a, IrValue b) {
    const Orders& order = orders[unsigned(comparison)];
    const Ir& ir = a.ir();
    return a.with(
        is_float(a.type)
            ? ir.compare(order.of_floats, a.llvm, b.llvm)
            : ir.compare(is_signed(a.type) ? order.of_signed : order.of_unsigned, a.llvm, b.llvm),
        Type::pred);
}
inline IrValue operator==(IrValue a, IrValue b) {
    return compare(Comparison::eq, a, b);
}
inline IrValue operator<(IrValue a, IrValue b) {
    return compare(Comparison::lt, a, b);
}
inline IrValue operator>(IrValue a, IrValue b) {
    return compare(Comparison::gt, a, b);
}
inline IrValue operator>=(IrValue a, IrValue b) {
    return compare(Comparison::ge, a, b);
}
inline IrValue is_nan(IrValue a) {
    return compare(Comparison::nan, a, a);
}

template <typename N>
IrValue splat(IrValue a, N number) {
    const LlvmType type = a.llvm_type();
    if (!is_float(a.type)) return a.with(a.ir().number(type, std::uint64_t(number)));
    const LlvmValue constant = a.ir().real(type, double(number));
    return a.with(a.ir().lanes_of(type) ? a.ir().in_memory(constant) : constant);
}
inline IrValue select(IrValue mask, IrValue a, IrValue b) {
    return a.with(a.ir().select(mask.llvm, a.llvm, b.llvm));
}
inline IrValue select(IrValue mask, IrValue a) {
    return select(mask, a, splat(a, 0));
}

inline IrValue as_unsigned(IrValue a) {
    return a.with(a.llvm, bits_of(a.type) == 64 ? Type::u64 : Type::u32);
}
inline IrValue as_bits(IrValue a) {
    return a.cast(Ir::bitcast, Type::u32);
}
inline IrValue as_float(IrValue a) {
    return a.cast(Ir::bitcast, Type::f32);
}
inline IrValue sign_bit(IrValue a) {
    return splat(as_bits(a), 0x80000000u);
}
inline IrValue bitwise(Ir::Binary operation, IrValue a, IrValue b) {
    if (is_float(a.type)) return as_float(bitwise(operation, as_bits(a), as_bits(b)));
    return a.with(a.ir().op(operation, a.llvm, b.llvm));
}
inline IrValue bit_and(IrValue a, IrValue b) {
    return bitwise(Ir::and_, a, b);
}
inline IrValue bit_or(IrValue a, IrValue b) {
    return bitwise(Ir::or_, a, b);
}
inline IrValue bit_xor(IrValue a, IrValue b) {
    return bitwise(Ir::xor_, a, b);
}
inline IrValue bit_not(IrValue a) {
    return a.with(a.ir().not_(a.llvm));
}

// LLVM has an instruction for a selection by a comparison of floats.
inline IrValue least(IrValue a, IrValue b) {
    if (is_float(a.type)) return select(a < b, a, b);
    return a.intrinsic(is_signed(a.type) ? "smin" : "umin", {a.llvm, b.llvm});
}
inline IrValue greatest(IrValue a, IrValue b) {
    if (is_float(a.type)) return select(a > b, a, b);
    return a.intrinsic(is_signed(a.type) ? "smax" : "umax", {a.llvm, b.llvm});
}
inline IrValue magnitude(IrValue a) {
    if (is_float(a.type)) return as_float(bit_and(as_bits(a), splat(as_bits(a), 0x7FFFFFFFu)));
    const IrValue zero = splat(a, 0);
    return select(a < zero, zero - a, a);
}
inline IrValue negative(IrValue a) {
    return a.with(a.ir().fneg(a.llvm));
}

inline unsigned width_of(IrValue a) {
    return bits_of(a.type);
}
inline bool holds_sign(IrValue a) {
    return is_signed(a.type);
}
inline IrValue with_width_of(IrValue a, IrValue n) {
    return n.cast(Ir::zext, bits_of(a.type) == 64 ? Type::u64 : Type::u32);
}
inline IrValue shift_left(IrValue a, IrValue n) {
    return a.with(a.ir().op(Ir::shl, a.llvm, n.llvm));
}
inline IrValue shift_right(IrValue a, IrValue n) {
    return a.with(a.ir().op(is_signed(a.type) ? Ir::ashr : Ir::lshr, a.llvm, n.llvm));
}
template <int n>
IrValue shift_left(IrValue a) {
    return shift_left(a, splat(a, n));
}
template <int n>
IrValue shift_right(IrValue a) {
    return shift_right(a, splat(a, n));
}

inline IrValue product(IrValue a, IrValue b) {
    return a * b;
}
inline IrValue wide_product(IrValue a, IrValue b) {
    const Ir::Cast extend = is_signed(a.type) ? Ir::sext : Ir::zext;
    return a.cast(extend, Type::u64) * b.cast(extend, Type::u64);
}
inline IrValue upper_half(IrValue product, IrValue a) {
    return shift_right<32>(product).cast(Ir::trunc, a.type);
}
inline IrValue fused(IrValue a, IrValue b, IrValue c) {
    return a.intrinsic("fma", {a.llvm, b.llvm, c.llvm});
}
inline IrValue mul_add(IrValue a, IrValue b, IrValue c) {
    return a.arithmetics->has_fma ? fused(a, b, c) : a * b + c;
}
inline IrValue neg_mul_add(IrValue a, IrValue b, IrValue c) {
    return a.arithmetics->has_fma ? fused(negative(a), b, c) : c - a * b;
}
inline IrValue root(IrValue a) {
    return a.intrinsic("sqrt", {a.llvm});
}
inline IrValue nearest(IrValue a) {
    return a.intrinsic("roundeven", {a.llvm});
}

inline IrValue to_signed(IrValue a) {
    return a.cast(Ir::fptosi, Type::s32);
}
// llvm.fptosi.sat would work lane by lane.
inline IrValue to_signed_saturating(IrValue a) {
    const IrValue below = least(a, splat(a, 2147483520.0));
    const IrValue value = to_signed(greatest(below, splat(a, -2147483648.0)));
    return select(a >= splat(a, 2147483648.0), splat(value, 0x7FFFFFFF), value);
}
inline IrValue to_float(IrValue a) {
    return a.cast(is_signed(a.type) ? Ir::sitofp : Ir::uitofp, Type::f32);
}

template <class V>
V without_subnormals(V a);
inline IrValue flushed_by_mode(IrValue a) {
    return a.arithmetics->flushes ? without_subnormals(a) : a;
}

template <class Function>
IrValue usually(IrValue mask, IrValue a) {
    Ir& ir = a.ir();
    const LlvmBlock fast = ir.here(), careful = ir.block("rarely"), end = ir.block();
    const IrValue quick = Function::quick(a);
    ir.likely(ir.all(mask.llvm), end, careful);
    ir.go_on_in(careful);
    const LlvmValue value = ir.call_rarely(Function::name, a.llvm, [&](LlvmValue argument) {
        return Function::careful(a.with(argument)).llvm;
    });
    ir.jump(end);
    ir.go_on_in(end);
    return a.with(ir.phi(a.llvm_type(), {{quick.llvm, fast}, {value, careful}}));
}

#include "emulator/handlers/meanings.inc"

}  // namespace warpscope::emulator::ir_values
