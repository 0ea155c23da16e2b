#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "emulator/handlers/handlers_convert.cpp"
#include <hwy/foreach_target.h>

#include "emulator/handlers/lane_operations.h"
#include "emulator/handlers/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace warpscope::emulator::HWY_NAMESPACE {
namespace {

#define WARPSCOPE_CONVERSION(Name, ...)         \
    template <typename Result, typename Source> \
    struct Name {                               \
        using R = Result;                       \
        using A = Source;                       \
        template <class V>                      \
        HWY_INLINE auto operator()(V a) const { \
            return __VA_ARGS__;                 \
        }                                       \
    };
WARPSCOPE_CONVERSION(Move, a)
WARPSCOPE_CONVERSION(Widen, hn::PromoteTo(hn::Rebind<Result, TagOf<V>>(), a))
WARPSCOPE_CONVERSION(NearestWhole, nearest(a))
WARPSCOPE_CONVERSION(ToFloat, to_float(a))
WARPSCOPE_CONVERSION(ToSigned, signed_from_float(a))
WARPSCOPE_CONVERSION(ToNearestSigned, signed_from_float(nearest(a)))
WARPSCOPE_CONVERSION(ToUnsigned, unsigned_from_float(a))
#undef WARPSCOPE_CONVERSION

template <typename T>
Handler move_of(OperandKinds kinds) {
    return unary_handler<Move<T, T>>(kinds);
}

// Truncation reads 64 bits for each lane, so it makes half a vector of results at a time.
const Instruction* truncate(const Instruction* i, Warp& w) {
    const hn::CappedTag<std::uint64_t, 8> d64;
    const hn::Rebind<std::uint32_t, decltype(d64)> d32;
    const auto* a = slot<std::uint64_t>(w, i->operands[1]);
    auto* r = slot<std::uint32_t>(w, i->operands[0]);
    for (std::size_t l = 0; l < lanes_per_warp; l += hn::Lanes(d64))
        hn::Store(hn::TruncateTo(d32, hn::Load(d64, a + l)), d32, r + l);
    return i + 1;
}
const Instruction* truncate_scalar(const Instruction* i, Warp& w) {
    *uniform_slot<std::uint32_t>(w, i->operands[0]) =
        *uniform_slot<std::uint32_t>(w, i->operands[1]);
    return i + 1;
}

template <typename T, bool a_uniform, bool b_uniform>
const Instruction* select(const Instruction* i, Warp& w) {
    const Full<T> d;
    const Source<a_uniform, decltype(d)> a(d, w, i->operands[1]);
    const Source<b_uniform, decltype(d)> b(d, w, i->operands[2]);
    const std::uint32_t p = w.predicate(i->operands[3]);
    auto* r = slot<T>(w, i->operands[0]);
    for (std::size_t l = 0; l < lanes_per_warp; l += hn::Lanes(d))
        hn::Store(hn::IfThenElse(mask_of(d, p, l), a.at(l), b.at(l)), d, r + l);
    return i + 1;
}
template <typename T>
const Instruction* select_scalar(const Instruction* i, Warp& w) {
    *uniform_slot<T>(w, i->operands[0]) =
        *uniform_slot<T>(w, i->operands[w.predicate(i->operands[3]) ? 1 : 2]);
    return i + 1;
}
template <typename T>
Handler select_of(OperandKinds kinds) {
    if (kinds.uniform_result) return select_scalar<T>;
    static constexpr Handler table[] = {select<T, false, false>, select<T, true, false>,
                                        select<T, false, true>, select<T, true, true>};
    return table[kinds.uniform_sources & 3];
}

// Runs the handler for all lanes, then gives inactive lanes their old values back.
template <typename T>
const Instruction* masked(const Instruction* i, Warp& w) {
    const Full<T> d;
    HWY_ALIGN T before[lanes_per_warp];
    auto* r = slot<T>(w, i->operands[0]);
    for (std::size_t l = 0; l < lanes_per_warp; l += hn::Lanes(d))
        hn::Store(hn::Load(d, r + l), d, before + l);
    const Instruction* next = i->handlers[Instruction::full](i, w);
    for (std::size_t l = 0; l < lanes_per_warp; l += hn::Lanes(d)) {
        const auto active = mask_of(d, w.mask, l);
        const auto value = hn::IfThenElse(active, hn::Load(d, r + l), hn::Load(d, before + l));
        hn::Store(value, d, r + l);
    }
    return next;
}

}  // namespace

Handler find_masked_handler(unsigned destination_bits) {
    return destination_bits == 64 ? masked<std::uint64_t> : masked<std::uint32_t>;
}

Handler find_move_handler(unsigned bits, OperandKinds kinds) {
    return bits == 64 ? move_of<std::uint64_t>(kinds) : move_of<std::uint32_t>(kinds);
}

Handler find_select_handler(unsigned bits, OperandKinds kinds) {
    return bits == 64 ? select_of<std::uint64_t>(kinds) : select_of<std::uint32_t>(kinds);
}

Handler find_conversion_handler(const Conversion& c, OperandKinds kinds) {
    if (c.saturate) return nullptr;
    const auto is = [&](Type to, Type from) { return c.to == to && c.from == from; };
    const bool nearest = c.rounding == Rounding::nearest, zero = c.rounding == Rounding::zero;
    const bool integers = !is_float(c.to) && !is_float(c.from);
    using std::int32_t, std::uint32_t, std::int64_t, std::uint64_t;
    if (is(Type::f32, Type::s32) && nearest) return unary_handler<ToFloat<float, int32_t>>(kinds);
    if (is(Type::f32, Type::u32) && nearest) return unary_handler<ToFloat<float, uint32_t>>(kinds);
    if (is(Type::s32, Type::f32) && zero) return unary_handler<ToSigned<int32_t, float>>(kinds);
    if (is(Type::s32, Type::f32) && nearest)
        return unary_handler<ToNearestSigned<int32_t, float>>(kinds);
    if (is(Type::u32, Type::f32) && zero) return unary_handler<ToUnsigned<uint32_t, float>>(kinds);
    if (is(Type::f32, Type::f32) && c.to_integral && nearest)
        return unary_handler<NearestWhole<float, float>>(kinds);
    if (integers && bits_of(c.to) == 64 && c.from == Type::u32)
        return unary_handler<Widen<uint64_t, uint32_t>>(kinds);
    if (integers && bits_of(c.to) == 64 && c.from == Type::s32)
        return unary_handler<Widen<int64_t, int32_t>>(kinds);
    if (integers && bits_of(c.to) == 32 && bits_of(c.from) == 64) {
        if (kinds.uniform_result) return truncate_scalar;
        return kinds.uniform_sources & 1 ? unary<Move<uint32_t, uint32_t>, true> : truncate;
    }
    return nullptr;
}

}  // namespace warpscope::emulator::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpscope::emulator {
HWY_EXPORT(find_masked_handler);
HWY_EXPORT(find_move_handler);
HWY_EXPORT(find_select_handler);
HWY_EXPORT(find_conversion_handler);
Handler masked_handler(unsigned destination_bits) {
    return HWY_DYNAMIC_DISPATCH(find_masked_handler)(destination_bits);
}
Handler move_handler(unsigned bits, OperandKinds kinds) {
    return HWY_DYNAMIC_DISPATCH(find_move_handler)(bits, kinds);
}
Handler select_handler(unsigned bits, OperandKinds kinds) {
    return HWY_DYNAMIC_DISPATCH(find_select_handler)(bits, kinds);
}
Handler simd_conversion_handler(const Conversion& conversion, OperandKinds kinds) {
    return HWY_DYNAMIC_DISPATCH(find_conversion_handler)(conversion, kinds);
}
Handler conversion_handler(const Conversion& conversion, OperandKinds kinds) {
    const Handler simd = simd_conversion_handler(conversion, kinds);
    return simd ? simd : conversion_lanes(conversion);
}
}  // namespace warpscope::emulator
#endif
