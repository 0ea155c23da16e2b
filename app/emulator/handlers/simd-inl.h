// Shared by the SIMD handler files. foreach_target.h includes it once for each target.
#if defined(WARPSCOPE_SIMD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WARPSCOPE_SIMD_INL_H_
#undef WARPSCOPE_SIMD_INL_H_
#else
#define WARPSCOPE_SIMD_INL_H_
#endif

#include <hwy/highway.h>

#include <bit>
#include <cmath>
#include <type_traits>

#include "emulator/handlers/handlers.h"

HWY_BEFORE_NAMESPACE();
namespace warpscope::emulator::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// At most 512 bits: the 32 lanes of a register are then a whole number of vectors on every target.
template <typename T>
using Full = hn::CappedTag<T, 64 / sizeof(T)>;
// For a uniform value, which is copied to every lane of a small vector: Highway's shifts of
// one-lane vectors would read the lanes above.
template <typename T>
using One = hn::CappedTag<T, 16 / sizeof(T)>;

// Vectors as values of meanings.inc, which explains these functions. Highway has the operators.
template <class V>
using TagOf = hn::DFromV<V>;
template <class V>
using LaneOf = hn::TFromD<TagOf<V>>;

#define WARPSCOPE_OF_ONE(name, ...)              \
    template <class V>                           \
    HWY_INLINE auto name([[maybe_unused]] V a) { \
        return __VA_ARGS__;                      \
    }
#define WARPSCOPE_OF_TWO(name, ...)  \
    template <class V>               \
    HWY_INLINE auto name(V a, V b) { \
        return __VA_ARGS__;          \
    }
WARPSCOPE_OF_ONE(is_nan, hn::IsNaN(a))
WARPSCOPE_OF_ONE(magnitude, hn::Abs(a))
WARPSCOPE_OF_ONE(negative, hn::Neg(a))
WARPSCOPE_OF_ONE(root, hn::Sqrt(a))
WARPSCOPE_OF_ONE(nearest, hn::Round(a))
WARPSCOPE_OF_ONE(bit_not, hn::Not(a))
WARPSCOPE_OF_ONE(as_unsigned, hn::BitCast(hn::RebindToUnsigned<TagOf<V>>(), a))
WARPSCOPE_OF_ONE(as_bits, as_unsigned(a))
WARPSCOPE_OF_ONE(as_float, hn::BitCast(hn::RebindToFloat<TagOf<V>>(), a))
WARPSCOPE_OF_ONE(sign_bit, as_bits(hn::SignBit(TagOf<V>())))
WARPSCOPE_OF_ONE(width_of, 8 * unsigned(sizeof(LaneOf<V>)))
WARPSCOPE_OF_ONE(holds_sign, std::is_signed_v<LaneOf<V>>)
WARPSCOPE_OF_ONE(to_signed, hn::ConvertTo(hn::RebindToSigned<TagOf<V>>(), a))
WARPSCOPE_OF_ONE(to_signed_saturating, to_signed(a))
WARPSCOPE_OF_TWO(both, hn::And(a, b))
WARPSCOPE_OF_TWO(either, hn::Or(a, b))
WARPSCOPE_OF_TWO(least, hn::Min(a, b))
WARPSCOPE_OF_TWO(greatest, hn::Max(a, b))
WARPSCOPE_OF_TWO(bit_and, hn::And(a, b))
WARPSCOPE_OF_TWO(bit_or, hn::Or(a, b))
WARPSCOPE_OF_TWO(bit_xor, hn::Xor(a, b))
WARPSCOPE_OF_TWO(product, hn::Mul(a, b))
#undef WARPSCOPE_OF_ONE
#undef WARPSCOPE_OF_TWO

template <class V, typename N>
HWY_INLINE V splat(V, N number) {
    return hn::Set(TagOf<V>(), LaneOf<V>(number));
}
template <class M, class V>
HWY_INLINE V select(M mask, V a, V b) {
    return hn::IfThenElse(hn::RebindMask(TagOf<V>(), mask), a, b);
}
template <class M, class V>
HWY_INLINE V select(M mask, V a) {
    return hn::IfThenElseZero(hn::RebindMask(TagOf<V>(), mask), a);
}

template <class V, class N>
HWY_INLINE auto with_width_of(V, N n) {
    const hn::RebindToUnsigned<TagOf<V>> d;
    if constexpr (sizeof(LaneOf<V>) == sizeof(LaneOf<N>))
        return hn::BitCast(d, n);
    else
        return hn::PromoteTo(d, n);
}
template <class V, class N>
HWY_INLINE V shift_left(V a, N n) {
    return hn::Shl(a, hn::BitCast(TagOf<V>(), n));
}
template <class V, class N>
HWY_INLINE V shift_right(V a, N n) {
    return hn::Shr(a, hn::BitCast(TagOf<V>(), n));
}
template <int n, class V>
HWY_INLINE V shift_left(V a) {
    return hn::ShiftLeft<n>(a);
}
template <int n, class V>
HWY_INLINE V shift_right(V a) {
    return hn::ShiftRight<n>(a);
}

template <class V>
HWY_INLINE auto wide_product(V a, V b) {
    const hn::Rebind<hwy::MakeWide<LaneOf<V>>, TagOf<V>> d;
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
    return as_unsigned(hn::Mul(hn::PromoteTo(d, a), hn::PromoteTo(d, b)));
#else
    // MulEven takes the even lanes, which is where widening to 64 bits puts the values.
    const hn::Repartition<LaneOf<V>, decltype(d)> even;
    return as_unsigned(hn::MulEven(hn::BitCast(even, hn::PromoteTo(d, a)),
                                   hn::BitCast(even, hn::PromoteTo(d, b))));
#endif
}

template <class V>
HWY_INLINE V mul_add(V a, V b, V c) {
    return hn::MulAdd(a, b, c);
}
template <class V>
HWY_INLINE V neg_mul_add(V a, V b, V c) {
    return hn::NegMulAdd(a, b, c);
}
#if !HWY_NATIVE_FMA && HWY_TARGET != HWY_SCALAR
// a * b + c of doubles that hold floats, whose product is thus exact: odd in the last bit where
// digits are lost, so that it is rounded as the exact sum is.
template <class V>
HWY_INLINE V fused_to_odd(V a, V b, V c) {
    const V product = hn::Mul(a, b), sum = hn::Add(product, c);
    const auto product_is_larger = hn::Abs(product) > hn::Abs(c);
    const V lost = hn::Sub(select(product_is_larger, c, product),
                           hn::Sub(sum, select(product_is_larger, product, c)));
    const auto is_above = hn::ShiftRight<63>(hn::Xor(as_bits(lost), as_bits(sum)));
    const auto odd = hn::Or(hn::Sub(as_bits(sum), is_above), splat(is_above, 1));
    return select(hn::Abs(lost) > hn::Zero(TagOf<V>()), as_float(odd), sum);
}
template <class V>
HWY_INLINE V fused_in_doubles(V a, V b, V c) {
    const hn::Half<TagOf<V>> half;
    const hn::Rebind<double, decltype(half)> wide;
    const auto low = [&](V v) { return hn::PromoteTo(wide, hn::LowerHalf(half, v)); };
    const auto high = [&](V v) { return hn::PromoteTo(wide, hn::UpperHalf(half, v)); };
    return hn::Combine(TagOf<V>(), hn::DemoteTo(half, fused_to_odd(high(a), high(b), high(c))),
                       hn::DemoteTo(half, fused_to_odd(low(a), low(b), low(c))));
}
#else
template <class V>
V fused_in_doubles(V a, V b, V c);  // not called
#endif
// A CPU without a fused instruction computes in doubles, or calls std::fma for each one of them.
template <class V>
HWY_INLINE V fused(V a, V b, V c) {
#if HWY_NATIVE_FMA
    return hn::MulAdd(a, b, c);
#else
    if constexpr (sizeof(LaneOf<V>) == 4 && HWY_TARGET != HWY_SCALAR)
        return fused_in_doubles(a, b, c);
    const TagOf<V> d;
    constexpr std::size_t n = 64 / sizeof(LaneOf<V>);
    HWY_ALIGN LaneOf<V> x[n], y[n], z[n];
    hn::Store(a, d, x);
    hn::Store(b, d, y);
    hn::Store(c, d, z);
    for (std::size_t l = 0; l < hn::Lanes(d); ++l) x[l] = std::fma(x[l], y[l], z[l]);
    return hn::Load(d, x);
#endif
}

template <class V>
HWY_INLINE auto to_float(V a) {
    const hn::RebindToFloat<TagOf<V>> d;
    if constexpr (std::is_signed_v<LaneOf<V>>) {
        return hn::ConvertTo(d, a);
    } else {
        // Exact halves, added with one rounding: high * 65536 has at most 16 significant bits.
        const hn::RebindToSigned<TagOf<V>> di;
        const auto low = hn::ConvertTo(d, hn::BitCast(di, hn::And(a, splat(a, 0xFFFFu))));
        const auto high = hn::ConvertTo(d, hn::BitCast(di, hn::ShiftRight<16>(a)));
        return hn::Add(hn::Mul(high, hn::Set(d, 65536.0f)), low);
    }
}

// The CPU's flush mode affects arithmetic and comparisons, but not moves.
template <class V>
HWY_INLINE V flushed_by_mode(V a) {
    const TagOf<V> d;
    return hn::IfThenElse(hn::Eq(a, hn::Zero(d)), hn::And(a, hn::SignBit(d)), a);
}

template <class Function, class M, class V>
HWY_INLINE V usually(M mask, V a) {
    if (HWY_LIKELY(hn::AllTrue(hn::RebindToUnsigned<TagOf<V>>(), mask))) return Function::quick(a);
    return Function::careful(a);
}

// Rarely used functions call libm for each lane.
template <float (*function)(float), class V>
HWY_INLINE V by_lane(V x) {
    const TagOf<V> d;
    HWY_ALIGN float lanes[16];
    hn::Store(x, d, lanes);
    for (std::size_t l = 0; l < hn::Lanes(d); ++l) lanes[l] = function(lanes[l]);
    return hn::Load(d, lanes);
}

#include "emulator/handlers/meanings.inc"

template <typename T>
HWY_INLINE T* slot(const Warp& w, std::uint32_t operand) {
    return reinterpret_cast<T*>(w.registers + operand);
}
template <typename T>
HWY_INLINE T* uniform_slot(const Warp& w, std::uint32_t operand) {
    return reinterpret_cast<T*>(w.registers + operand - uniform_operand);
}

// A source operand that is known at compile time to be uniform or a vector.
template <bool uniform, class D>
struct Source {
    using T = hn::TFromD<D>;
    HWY_INLINE Source(D d, const Warp& w, std::uint32_t operand)
        : d_(d),
          p_(uniform ? uniform_slot<T>(w, operand) : slot<T>(w, operand)),
          value_(uniform ? hn::Set(d, *p_) : hn::Zero(d)) {}
    HWY_INLINE hn::Vec<D> at(std::size_t lane) const {
        if constexpr (uniform)
            return value_;
        else
            return hn::Load(d_, p_ + lane);
    }
    D d_;
    const T* p_;
    hn::Vec<D> value_;
};

// A source operand that may be uniform or a vector.
template <class D>
HWY_INLINE hn::Vec<D> any_source(D d, const Warp& w, std::uint32_t operand, std::size_t lane) {
    using T = hn::TFromD<D>;
    return is_uniform(operand) ? hn::Set(d, *uniform_slot<T>(w, operand))
                               : hn::Load(d, slot<T>(w, operand) + lane);
}

// The lanes of a vector whose bits are set; the vector begins at `lane`.
template <class D>
HWY_INLINE hn::Mask<D> mask_of(D d, std::uint32_t bits, std::size_t lane) {
    const std::uint64_t here = std::uint64_t(bits) >> lane;
    return hn::LoadMaskBits(d, reinterpret_cast<const std::uint8_t*>(&here));
}

/// A meaning, and the types R of its result and A, B and C of its sources.
template <class Meaning, class Operands>
struct Typed : Operands, Meaning {};

// Handlers of a Typed operation.
template <class Op, bool a_uniform>
const Instruction* unary(const Instruction* i, Warp& w) {
    const Full<typename Op::R> dr;
    const hn::Rebind<typename Op::A, Full<typename Op::R>> da;
    const Source<a_uniform, decltype(da)> a(da, w, i->operands[1]);
    auto* r = slot<typename Op::R>(w, i->operands[0]);
    for (std::size_t l = 0; l < lanes_per_warp; l += hn::Lanes(dr))
        hn::Store(Op()(a.at(l)), dr, r + l);
    return i + 1;
}

template <class Op>
const Instruction* unary_scalar(const Instruction* i, Warp& w) {
    const hn::Rebind<typename Op::A, One<typename Op::R>> da;
    const auto a = hn::Set(da, *uniform_slot<typename Op::A>(w, i->operands[1]));
    *uniform_slot<typename Op::R>(w, i->operands[0]) = hn::GetLane(Op()(a));
    return i + 1;
}

template <class Op>
Handler unary_handler(OperandKinds kinds) {
    if (kinds.uniform_result) return unary_scalar<Op>;
    return kinds.uniform_sources & 1 ? unary<Op, true> : unary<Op, false>;
}

template <class Op, bool a_uniform, bool b_uniform>
const Instruction* binary(const Instruction* i, Warp& w) {
    const Full<typename Op::R> dr;
    const hn::Rebind<typename Op::A, Full<typename Op::R>> da;
    const hn::Rebind<typename Op::B, Full<typename Op::R>> db;
    const Source<a_uniform, decltype(da)> a(da, w, i->operands[1]);
    const Source<b_uniform, decltype(db)> b(db, w, i->operands[2]);
    auto* r = slot<typename Op::R>(w, i->operands[0]);
    for (std::size_t l = 0; l < lanes_per_warp; l += hn::Lanes(dr))
        hn::Store(Op()(a.at(l), b.at(l)), dr, r + l);
    return i + 1;
}

template <class Op>
const Instruction* binary_scalar(const Instruction* i, Warp& w) {
    const hn::Rebind<typename Op::A, One<typename Op::R>> da;
    const hn::Rebind<typename Op::B, One<typename Op::R>> db;
    const auto a = hn::Set(da, *uniform_slot<typename Op::A>(w, i->operands[1]));
    const auto b = hn::Set(db, *uniform_slot<typename Op::B>(w, i->operands[2]));
    *uniform_slot<typename Op::R>(w, i->operands[0]) = hn::GetLane(Op()(a, b));
    return i + 1;
}

template <class Op>
Handler binary_handler(OperandKinds kinds) {
    if (kinds.uniform_result) return binary_scalar<Op>;
    static constexpr Handler table[] = {binary<Op, false, false>, binary<Op, true, false>,
                                        binary<Op, false, true>, binary<Op, true, true>};
    return table[kinds.uniform_sources & 3];
}

template <class Op, bool a_uniform, bool b_uniform, bool c_uniform>
const Instruction* ternary(const Instruction* i, Warp& w) {
    const Full<typename Op::R> dr;
    const hn::Rebind<typename Op::A, Full<typename Op::R>> da;
    const hn::Rebind<typename Op::B, Full<typename Op::R>> db;
    const hn::Rebind<typename Op::C, Full<typename Op::R>> dc;
    const Source<a_uniform, decltype(da)> a(da, w, i->operands[1]);
    const Source<b_uniform, decltype(db)> b(db, w, i->operands[2]);
    const Source<c_uniform, decltype(dc)> c(dc, w, i->operands[3]);
    auto* r = slot<typename Op::R>(w, i->operands[0]);
    for (std::size_t l = 0; l < lanes_per_warp; l += hn::Lanes(dr))
        hn::Store(Op()(a.at(l), b.at(l), c.at(l)), dr, r + l);
    return i + 1;
}

template <class Op>
const Instruction* ternary_scalar(const Instruction* i, Warp& w) {
    const hn::Rebind<typename Op::A, One<typename Op::R>> da;
    const hn::Rebind<typename Op::B, One<typename Op::R>> db;
    const hn::Rebind<typename Op::C, One<typename Op::R>> dc;
    const auto a = hn::Set(da, *uniform_slot<typename Op::A>(w, i->operands[1]));
    const auto b = hn::Set(db, *uniform_slot<typename Op::B>(w, i->operands[2]));
    const auto c = hn::Set(dc, *uniform_slot<typename Op::C>(w, i->operands[3]));
    *uniform_slot<typename Op::R>(w, i->operands[0]) = hn::GetLane(Op()(a, b, c));
    return i + 1;
}

template <class Op>
Handler ternary_handler(OperandKinds kinds) {
    if (kinds.uniform_result) return ternary_scalar<Op>;
    static constexpr Handler table[] = {
        ternary<Op, false, false, false>, ternary<Op, true, false, false>,
        ternary<Op, false, true, false>,  ternary<Op, true, true, false>,
        ternary<Op, false, false, true>,  ternary<Op, true, false, true>,
        ternary<Op, false, true, true>,   ternary<Op, true, true, true>};
    return table[kinds.uniform_sources & 7];
}

}  // namespace warpscope::emulator::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
