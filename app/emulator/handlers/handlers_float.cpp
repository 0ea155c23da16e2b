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

// Fused on every target: where the CPU has no such instruction, lane by lane.
template <typename T>
struct Fma : Float<T> {
    template <class D, class V>
    HWY_INLINE V operator()(D d, V a, V b, V c) const {
#if HWY_NATIVE_FMA
        (void)d;
        return hn::MulAdd(a, b, c);
#else
        constexpr size_t n = 64 / sizeof(T);
        HWY_ALIGN T x[n], y[n], z[n];
        hn::Store(a, d, x);
        hn::Store(b, d, y);
        hn::Store(c, d, z);
        for (size_t l = 0; l < hn::Lanes(d); ++l) x[l] = std::fma(x[l], y[l], z[l]);
        return hn::Load(d, x);
#endif
    }
};

// A subnormal becomes the zero of its sign where the CPU's mode flushes: only arithmetic and
// comparisons heed it, not moves.
template <class D, class V>
HWY_INLINE V flushed(D d, V a) {
    return hn::IfThenElse(hn::Eq(a, hn::Zero(d)), hn::And(a, hn::SignBit(d)), a);
}

// PTX: the operand that is a number when one is NaN; -0 is less than +0.
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
struct Rsqrt : Float<float> {
    template <class D, class V>
    HWY_INLINE V operator()(D d, V a) const {
        return hn::Div(hn::Set(d, 1.0f), hn::Sqrt(a));
    }
};
// Flushes by itself, so that a kernel whose other arithmetic doesn't flush changes no mode for it.
// The result is never subnormal.
struct RsqrtFtz : Float<float> {
    template <class D, class V>
    HWY_INLINE V operator()(D d, V a) const {
        const auto subnormal = hn::Lt(hn::Abs(a), hn::Set(d, 0x1p-126f));
        return Rsqrt()(d, hn::IfThenElse(subnormal, hn::CopySign(hn::Zero(d), a), a));
    }
};

// sin(a) for a in revolutions/2 reduced to [-pi/2, pi/2]: a odd polynomial, error below 2^-22.
template <class D, class V>
HWY_INLINE V sin_reduced(D d, V x) {
    const V s = hn::Mul(x, x);
    V p = hn::Set(d, 2.6083159809786593541503e-06f);
    p = hn::MulAdd(p, s, hn::Set(d, -0.0001981069071916863322258f));
    p = hn::MulAdd(p, s, hn::Set(d, 0.00833307858556509017944336f));
    p = hn::MulAdd(p, s, hn::Set(d, -0.166666597127914428710938f));
    return hn::MulAdd(hn::Mul(s, x), p, x);
}

// x - k*pi, pi in three parts, negated for odd k: the period that the polynomial lacks.
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

// cos(x) = sin(pi/2 - |x|) with k half turns and a half counted off.
struct Cos : Float<float> {
    template <class D, class V>
    HWY_INLINE V operator()(D d, V x) const {
        const V half = hn::Set(d, 0.5f);
        const V k = hn::Round(hn::MulAdd(x, hn::Set(d, 0.318309886183790671538f), half));
        const V r = remove_half_turns(d, x, hn::Sub(k, half));
        return hn::Xor(sin_reduced(d, r), sign_of_odd(d, k));
    }
};

// 2^x: the integer part into the exponent in two steps (so that subnormal results come out), the
// fraction in [-1/2, 1/2] by a polynomial.
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

// Functions whose speed nobody waits for: libm, lane by lane.
template <float (*function)(float)>
struct Libm : Float<float> {
    template <class D, class V>
    HWY_INLINE V operator()(D d, V x) const {
        HWY_ALIGN float lanes[16];
        hn::Store(x, d, lanes);
        for (size_t l = 0; l < hn::Lanes(d); ++l) lanes[l] = function(lanes[l]);
        return hn::Load(d, lanes);
    }
};
float log2_of(float x) {
    return x == 0 ? -INFINITY : std::log2(x);  // libm does not flush subnormals
}
float tanh_of(float x) {
    return std::tanh(x);
}

}  // namespace

Handler find_float_handler(VectorOp op, Shape shape) {
    switch (op) {
        case VectorOp::add_f32:
            return binary_handler<Add<float>>(shape);
        case VectorOp::sub_f32:
            return binary_handler<Sub<float>>(shape);
        case VectorOp::mul_f32:
            return binary_handler<Mul<float>>(shape);
        case VectorOp::fma_f32:
            return ternary_handler<Fma<float>>(shape);
        case VectorOp::min_f32:
            return binary_handler<Min>(shape);
        case VectorOp::max_f32:
            return binary_handler<Max>(shape);
        case VectorOp::neg_f32:
            return unary_handler<Neg>(shape);
        case VectorOp::abs_f32:
            return unary_handler<Abs>(shape);
        case VectorOp::div_f32:
            return binary_handler<Div>(shape);
        case VectorOp::sqrt_f32:
            return unary_handler<Sqrt>(shape);
        case VectorOp::rcp_f32:
            return unary_handler<Rcp>(shape);
        case VectorOp::rsqrt_f32:
            return unary_handler<Rsqrt>(shape);
        case VectorOp::rsqrt_ftz_f32:
            return unary_handler<RsqrtFtz>(shape);
        case VectorOp::sin_f32:
            return unary_handler<Sin>(shape);
        case VectorOp::cos_f32:
            return unary_handler<Cos>(shape);
        case VectorOp::ex2_f32:
            return unary_handler<Ex2>(shape);
        case VectorOp::lg2_f32:
            return unary_handler<Libm<log2_of>>(shape);
        case VectorOp::tanh_f32:
            return unary_handler<Libm<tanh_of>>(shape);
        case VectorOp::add_f64:
            return binary_handler<Add<double>>(shape);
        case VectorOp::sub_f64:
            return binary_handler<Sub<double>>(shape);
        case VectorOp::mul_f64:
            return binary_handler<Mul<double>>(shape);
        case VectorOp::fma_f64:
            return ternary_handler<Fma<double>>(shape);
        default:
            return nullptr;
    }
}

}  // namespace warpscope::emulator::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpscope::emulator {
HWY_EXPORT(find_float_handler);
Handler float_handler(VectorOp op, Shape shape) {
    return HWY_DYNAMIC_DISPATCH(find_float_handler)(op, shape);
}
}  // namespace warpscope::emulator
#endif
