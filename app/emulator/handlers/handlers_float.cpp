#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "emulator/handlers/handlers_float.cpp"
#include <hwy/foreach_target.h>

#include "emulator/handlers/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace warpscope::emulator::HWY_NAMESPACE {
namespace {

template <typename T>
struct Float {
    using R = T;
    using A = T;
};

template <typename T>
struct Add : Float<T> {
    template <class D, class V>
    HWY_INLINE V operator()(D, V a, V b) const {
        return hn::Add(a, b);
    }
};
template <typename T>
struct Sub : Float<T> {
    template <class D, class V>
    HWY_INLINE V operator()(D, V a, V b) const {
        return hn::Sub(a, b);
    }
};
template <typename T>
struct Mul : Float<T> {
    template <class D, class V>
    HWY_INLINE V operator()(D, V a, V b) const {
        return hn::Mul(a, b);
    }
};

// Fused on every target. A CPU without a fused instruction calls std::fma for each lane.
template <typename T>
struct Fma : Float<T> {
    template <class D, class V>
    HWY_INLINE V operator()(D d, V a, V b, V c) const {
#if HWY_NATIVE_FMA
        (void)d;
        return hn::MulAdd(a, b, c);
#else
        constexpr std::size_t n = 64 / sizeof(T);
        HWY_ALIGN T x[n], y[n], z[n];
        hn::Store(a, d, x);
        hn::Store(b, d, y);
        hn::Store(c, d, z);
        for (std::size_t l = 0; l < hn::Lanes(d); ++l) x[l] = std::fma(x[l], y[l], z[l]);
        return hn::Load(d, x);
#endif
    }
};

// Replaces a subnormal by the zero of its sign if the CPU's flush mode is on. The mode affects
// arithmetic and comparisons, but not moves.
template <class D, class V>
HWY_INLINE V flushed(D d, V a) {
    return hn::IfThenElse(hn::Eq(a, hn::Zero(d)), hn::And(a, hn::SignBit(d)), a);
}

// PTX ISA, min and max: if one operand is NaN, the result is the other one; -0 is less than +0.
struct Min : Float<float> {
    template <class D, class V>
    HWY_INLINE V operator()(D d, V a, V b) const {
        const V smaller =
            hn::IfThenElse(hn::Lt(a, b), a, hn::IfThenElse(hn::Eq(a, b), hn::Or(a, b), b));
        return flushed(d, hn::IfThenElse(hn::IsNaN(b), a, smaller));
    }
};
struct Max : Float<float> {
    template <class D, class V>
    HWY_INLINE V operator()(D d, V a, V b) const {
        const V larger =
            hn::IfThenElse(hn::Gt(a, b), a, hn::IfThenElse(hn::Eq(a, b), hn::And(a, b), b));
        return flushed(d, hn::IfThenElse(hn::IsNaN(b), a, larger));
    }
};
struct Neg : Float<float> {
    template <class D, class V>
    HWY_INLINE V operator()(D, V a) const {
        return hn::Neg(a);
    }
};
struct Abs : Float<float> {
    template <class D, class V>
    HWY_INLINE V operator()(D, V a) const {
        return hn::Abs(a);
    }
};

// .ftz for operations that do not get it from the CPU's flush mode: neg and abs, which ignore the
// mode, and rsqrt, so that a kernel that flushes nowhere else needs no change of mode.
template <class Op>
struct Flushing : Float<float> {
    template <class D, class V>
    HWY_INLINE V operator()(D d, V a) const {
        const auto subnormal = hn::Lt(hn::Abs(a), hn::Set(d, 0x1p-126f));
        return Op()(d, hn::IfThenElse(subnormal, hn::CopySign(hn::Zero(d), a), a));
    }
};
struct Div : Float<float> {
    template <class D, class V>
    HWY_INLINE V operator()(D, V a, V b) const {
        return hn::Div(a, b);
    }
};
struct Sqrt : Float<float> {
    template <class D, class V>
    HWY_INLINE V operator()(D, V a) const {
        return hn::Sqrt(a);
    }
};
struct Rcp : Float<float> {
    template <class D, class V>
    HWY_INLINE V operator()(D d, V a) const {
        return hn::Div(hn::Set(d, 1.0f), a);
    }
};
// 1/sqrt(x) for x in [2^-100, infinity), without a division: an estimate from the bits of x and one
// step of Newton's method, with Kadlec's constants (error 2^-10.5), and one of Halley's method. It
// has the same bits on every CPU. Its relative error is below 2^-22.9, the bound of the PTX ISA
// (section 9.7.3.18).
template <class D, class V>
HWY_INLINE V inverse_root(D d, V x) {
    const hn::RebindToUnsigned<D> du;
    const Fma<float> fma;
    const auto bits = hn::Sub(hn::Set(du, 0x5F1FFFF9u), hn::ShiftRight<1>(hn::BitCast(du, x)));
    V y = hn::BitCast(d, bits);
    const V factor = fma(d, hn::Neg(hn::Mul(x, y)), y, hn::Set(d, 2.38924456f));
    y = hn::Mul(hn::Mul(y, hn::Set(d, 0.703952253f)), factor);
    const V error = fma(d, hn::Neg(hn::Mul(x, y)), y, hn::Set(d, 1.0f));
    return fma(d, hn::Mul(y, error), fma(d, error, hn::Set(d, 0.375f), hn::Set(d, 0.5f)), y);
}

struct Rsqrt : Float<float> {
    template <class D, class V>
    HWY_INLINE V operator()(D d, V a) const {
        const V zero = hn::Zero(d), infinity = hn::Set(d, INFINITY);
        const auto small = hn::Lt(hn::Abs(a), hn::Set(d, 0x1p-100f));
        const auto ordinary = hn::AndNot(small, hn::And(hn::Gt(a, zero), hn::Lt(a, infinity)));
        if (HWY_LIKELY(hn::AllTrue(d, ordinary))) return inverse_root(d, a);
        // Scaled by a power of 4, so that no step is subnormal.
        const V x = hn::IfThenElse(small, hn::Mul(a, hn::Set(d, 0x1p24f)), a);
        V y = inverse_root(d, x);
        y = hn::IfThenElse(small, hn::Mul(y, hn::Set(d, 0x1p12f)), y);
        y = hn::IfThenElse(hn::Eq(x, infinity), zero, y);
        y = hn::IfThenElse(hn::Ge(x, zero), y, hn::NaN(d));  // negative or NaN: NaN
        return hn::IfThenElse(hn::Eq(x, zero), hn::CopySign(infinity, a), y);
    }
};

// sin(x) for x in [-pi/2, pi/2]: an odd polynomial, error below 2^-22.
template <class D, class V>
HWY_INLINE V sin_reduced(D d, V x) {
    const V s = hn::Mul(x, x);
    V p = hn::Set(d, 2.6083159809786593541503e-06f);
    p = hn::MulAdd(p, s, hn::Set(d, -0.0001981069071916863322258f));
    p = hn::MulAdd(p, s, hn::Set(d, 0.00833307858556509017944336f));
    p = hn::MulAdd(p, s, hn::Set(d, -0.166666597127914428710938f));
    return hn::MulAdd(hn::Mul(s, x), p, x);
}

// x - k*pi, with pi in three parts. For odd k the sine has the opposite sign: see sign_of_odd().
template <class D, class V>
HWY_INLINE V remove_half_turns(D d, V x, V k) {
    V r = hn::NegMulAdd(k, hn::Set(d, 3.140625f), x);
    r = hn::NegMulAdd(k, hn::Set(d, 0.0009670257568359375f), r);
    return hn::NegMulAdd(k, hn::Set(d, 6.2771141529083251953e-07f), r);
}
template <class D, class V>
HWY_INLINE V sign_of_odd(D d, V k) {
    const hn::RebindToSigned<D> di;
    return hn::BitCast(d, hn::ShiftLeft<31>(hn::ConvertTo(di, k)));
}

struct Sin : Float<float> {
    template <class D, class V>
    HWY_INLINE V operator()(D d, V x) const {
        const V k = hn::Round(hn::Mul(x, hn::Set(d, 0.318309886183790671538f)));
        const V y = hn::Xor(sin_reduced(d, remove_half_turns(d, x, k)), sign_of_odd(d, k));
        return hn::IfThenElse(hn::Eq(x, hn::Zero(d)), flushed(d, x), y);  // -0 stays -0
    }
};

// cos(x) = sin(x + pi/2): k counts half turns from a quarter turn on.
struct Cos : Float<float> {
    template <class D, class V>
    HWY_INLINE V operator()(D d, V x) const {
        const V half = hn::Set(d, 0.5f);
        const V k = hn::Round(hn::MulAdd(x, hn::Set(d, 0.318309886183790671538f), half));
        const V r = remove_half_turns(d, x, hn::Sub(k, half));
        return hn::Xor(sin_reduced(d, r), sign_of_odd(d, k));
    }
};

// 2^x: the integer part goes into the exponent in two steps, so that results may be subnormal; a
// polynomial computes the fraction in [-1/2, 1/2].
struct Ex2 : Float<float> {
    template <class D, class V>
    HWY_INLINE V operator()(D d, V x) const {
        const hn::RebindToSigned<D> di;
        const V bounded = hn::Min(hn::Max(x, hn::Set(d, -160.0f)), hn::Set(d, 160.0f));
        const V whole = hn::Round(bounded);
        const V f = hn::Sub(bounded, whole);
        V p = hn::Set(d, 1.535336188319500e-4f);
        p = hn::MulAdd(p, f, hn::Set(d, 1.339887440266574e-3f));
        p = hn::MulAdd(p, f, hn::Set(d, 9.618437357674640e-3f));
        p = hn::MulAdd(p, f, hn::Set(d, 5.550332471162809e-2f));
        p = hn::MulAdd(p, f, hn::Set(d, 2.402264791363012e-1f));
        p = hn::MulAdd(p, f, hn::Set(d, 6.931472028550421e-1f));
        p = hn::MulAdd(p, f, hn::Set(d, 1.0f));
        const auto e = hn::ConvertTo(di, whole);
        const auto first = hn::ShiftRight<1>(e);
        const auto bias = hn::Set(di, 127);
        const V scale1 = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(first, bias)));
        const V scale2 = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(hn::Sub(e, first), bias)));
        return hn::IfThenElse(hn::IsNaN(x), x, hn::Mul(hn::Mul(p, scale1), scale2));
    }
};

// Rarely used functions call libm for each lane.
template <float (*function)(float)>
struct Libm : Float<float> {
    template <class D, class V>
    HWY_INLINE V operator()(D d, V x) const {
        HWY_ALIGN float lanes[16];
        hn::Store(x, d, lanes);
        for (std::size_t l = 0; l < hn::Lanes(d); ++l) lanes[l] = function(lanes[l]);
        return hn::Load(d, lanes);
    }
};
float log2_of(float x) {
    return x == 0 ? -INFINITY : std::log2(x);  // libm does not flush subnormals
}
float tanh_of(float x) {
    return std::tanh(x);
}

Handler handler_of_f32(Operation operation, OperandKinds kinds) {
    switch (operation) {
        case Operation::fadd:
            return binary_handler<Add<float>>(kinds);
        case Operation::fsub:
            return binary_handler<Sub<float>>(kinds);
        case Operation::fmul:
            return binary_handler<Mul<float>>(kinds);
        case Operation::fma:
            return ternary_handler<Fma<float>>(kinds);
        case Operation::fmin:
            return binary_handler<Min>(kinds);
        case Operation::fmax:
            return binary_handler<Max>(kinds);
        case Operation::fneg:
            return unary_handler<Neg>(kinds);
        case Operation::fabs:
            return unary_handler<Abs>(kinds);
        case Operation::fdiv:
            return binary_handler<Div>(kinds);
        case Operation::fsqrt:
            return unary_handler<Sqrt>(kinds);
        case Operation::frcp:
            return unary_handler<Rcp>(kinds);
        case Operation::frsqrt:
            return unary_handler<Rsqrt>(kinds);
        case Operation::fsin:
            return unary_handler<Sin>(kinds);
        case Operation::fcos:
            return unary_handler<Cos>(kinds);
        case Operation::fex2:
            return unary_handler<Ex2>(kinds);
        case Operation::flg2:
            return unary_handler<Libm<log2_of>>(kinds);
        case Operation::ftanh:
            return unary_handler<Libm<tanh_of>>(kinds);
        default:
            return nullptr;
    }
}

Handler handler_of_f64(Operation operation, OperandKinds kinds) {
    switch (operation) {
        case Operation::fadd:
            return binary_handler<Add<double>>(kinds);
        case Operation::fsub:
            return binary_handler<Sub<double>>(kinds);
        case Operation::fmul:
            return binary_handler<Mul<double>>(kinds);
        case Operation::fma:
            return ternary_handler<Fma<double>>(kinds);
        default:
            return nullptr;
    }
}

}  // namespace

Handler find_float_handler(Operation operation, Type type, OperandKinds kinds) {
    return type == Type::f64 ? handler_of_f64(operation, kinds) : handler_of_f32(operation, kinds);
}

Handler find_flushing_handler(Operation operation, OperandKinds kinds) {
    switch (operation) {
        case Operation::fneg:
            return unary_handler<Flushing<Neg>>(kinds);
        case Operation::fabs:
            return unary_handler<Flushing<Abs>>(kinds);
        case Operation::frsqrt:
            return unary_handler<Flushing<Rsqrt>>(kinds);
        default:
            return nullptr;
    }
}

}  // namespace warpscope::emulator::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpscope::emulator {
HWY_EXPORT(find_float_handler);
HWY_EXPORT(find_flushing_handler);
Handler float_handler(Operation operation, Type type, OperandKinds kinds) {
    return HWY_DYNAMIC_DISPATCH(find_float_handler)(operation, type, kinds);
}
Handler flushing_handler(Operation operation, OperandKinds kinds) {
    return HWY_DYNAMIC_DISPATCH(find_flushing_handler)(operation, kinds);
}
}  // namespace warpscope::emulator
#endif
