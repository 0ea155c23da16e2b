// Shared by the SIMD handler files. foreach_target.h includes it once for each target.
#if defined(WARPSCOPE_SIMD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WARPSCOPE_SIMD_INL_H_
#undef WARPSCOPE_SIMD_INL_H_
#else
#define WARPSCOPE_SIMD_INL_H_
#endif

#include <hwy/highway.h>

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

// Result type R, source types A; Op is callable as op(d_result, sources...).
template <class Op, bool a_uniform>
const Instruction* unary(const Instruction* i, Warp& w) {
    const Full<typename Op::R> dr;
    const hn::Rebind<typename Op::A, Full<typename Op::R>> da;
    const Source<a_uniform, decltype(da)> a(da, w, i->operands[1]);
    auto* r = slot<typename Op::R>(w, i->operands[0]);
    for (std::size_t l = 0; l < lanes_per_warp; l += hn::Lanes(dr))
        hn::Store(Op()(dr, a.at(l)), dr, r + l);
    return i + 1;
}

template <class Op>
const Instruction* unary_scalar(const Instruction* i, Warp& w) {
    const One<typename Op::R> dr;
    const hn::Rebind<typename Op::A, One<typename Op::R>> da;
    const auto a = hn::Set(da, *uniform_slot<typename Op::A>(w, i->operands[1]));
    *uniform_slot<typename Op::R>(w, i->operands[0]) = hn::GetLane(Op()(dr, a));
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
    const Source<a_uniform, decltype(da)> a(da, w, i->operands[1]);
    const Source<b_uniform, decltype(da)> b(da, w, i->operands[2]);
    auto* r = slot<typename Op::R>(w, i->operands[0]);
    for (std::size_t l = 0; l < lanes_per_warp; l += hn::Lanes(dr))
        hn::Store(Op()(dr, a.at(l), b.at(l)), dr, r + l);
    return i + 1;
}

template <class Op>
const Instruction* binary_scalar(const Instruction* i, Warp& w) {
    const One<typename Op::R> dr;
    const hn::Rebind<typename Op::A, One<typename Op::R>> da;
    const auto a = hn::Set(da, *uniform_slot<typename Op::A>(w, i->operands[1]));
    const auto b = hn::Set(da, *uniform_slot<typename Op::A>(w, i->operands[2]));
    *uniform_slot<typename Op::R>(w, i->operands[0]) = hn::GetLane(Op()(dr, a, b));
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
    const Source<a_uniform, decltype(da)> a(da, w, i->operands[1]);
    const Source<b_uniform, decltype(da)> b(da, w, i->operands[2]);
    const Source<c_uniform, Full<typename Op::R>> c(dr, w, i->operands[3]);
    auto* r = slot<typename Op::R>(w, i->operands[0]);
    for (std::size_t l = 0; l < lanes_per_warp; l += hn::Lanes(dr))
        hn::Store(Op()(dr, a.at(l), b.at(l), c.at(l)), dr, r + l);
    return i + 1;
}

template <class Op>
const Instruction* ternary_scalar(const Instruction* i, Warp& w) {
    const One<typename Op::R> dr;
    const hn::Rebind<typename Op::A, One<typename Op::R>> da;
    const auto a = hn::Set(da, *uniform_slot<typename Op::A>(w, i->operands[1]));
    const auto b = hn::Set(da, *uniform_slot<typename Op::A>(w, i->operands[2]));
    const auto c = hn::Set(dr, *uniform_slot<typename Op::R>(w, i->operands[3]));
    *uniform_slot<typename Op::R>(w, i->operands[0]) = hn::GetLane(Op()(dr, a, b, c));
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
