#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "emulator/handlers/handlers_compare.cpp"
#include <hwy/foreach_target.h>

#include "emulator/handlers/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace warpscope::emulator::HWY_NAMESPACE {
namespace {

// `negated` makes the comparisons that are true for NaN: neu is !eq, ltu is !ge.
#define WARPSCOPE_COMPARISON(Name, Function)         \
    template <typename Type, bool negated = false>   \
    struct Name {                                    \
        using T = Type;                              \
        static constexpr bool inverse = negated;     \
        template <class V>                           \
        HWY_INLINE auto operator()(V a, V b) const { \
            return Function(a, b);                   \
        }                                            \
    };
WARPSCOPE_COMPARISON(Eq, hn::Eq)
WARPSCOPE_COMPARISON(Lt, hn::Lt)
WARPSCOPE_COMPARISON(Le, hn::Le)
WARPSCOPE_COMPARISON(Gt, hn::Gt)
WARPSCOPE_COMPARISON(Ge, hn::Ge)
#undef WARPSCOPE_COMPARISON

// ne of floats is false for NaN, other than the negated eq.
struct NeNumber {
    using T = float;
    static constexpr bool inverse = false;
    template <class V>
    HWY_INLINE auto operator()(V a, V b) const {
        return hn::Or(hn::Lt(a, b), hn::Gt(a, b));
    }
};

template <class Op, bool a_uniform, bool b_uniform>
const Instruction* compare(const Instruction* i, Warp& w) {
    const Full<typename Op::T> d;
    const Source<a_uniform, decltype(d)> a(d, w, i->operands[1]);
    const Source<b_uniform, decltype(d)> b(d, w, i->operands[2]);
    std::uint32_t result = 0;
    for (size_t l = 0; l < lanes_per_warp; l += hn::Lanes(d)) {
        std::uint64_t bits = 0;
        hn::StoreMaskBits(d, Op()(a.at(l), b.at(l)), reinterpret_cast<std::uint8_t*>(&bits));
        result |= std::uint32_t(bits << l);
    }
    w.predicate(i->operands[0]) = Op::inverse ? ~result : result;
    return i + 1;
}

template <class Op>
const Instruction* compare_scalar(const Instruction* i, Warp& w) {
    const One<typename Op::T> d;
    const auto a = hn::Set(d, *uniform_slot<typename Op::T>(w, i->operands[1]));
    const auto b = hn::Set(d, *uniform_slot<typename Op::T>(w, i->operands[2]));
    const bool result = !hn::AllFalse(d, Op()(a, b));
    w.predicate(i->operands[0]) = result != Op::inverse ? all_lanes : 0;
    return i + 1;
}

template <class Op>
Handler handler_of(Shape shape) {
    static constexpr Handler table[] = {compare<Op, false, false>, compare<Op, true, false>,
                                        compare<Op, false, true>, compare_scalar<Op>};
    return table[shape.uniform_sources & 3];
}

}  // namespace

Handler find_compare_handler(VectorOp op, Shape shape) {
    switch (op) {
        case VectorOp::eq_f32:
            return handler_of<Eq<float>>(shape);
        case VectorOp::ne_f32:
            return handler_of<NeNumber>(shape);
        case VectorOp::lt_f32:
            return handler_of<Lt<float>>(shape);
        case VectorOp::le_f32:
            return handler_of<Le<float>>(shape);
        case VectorOp::gt_f32:
            return handler_of<Gt<float>>(shape);
        case VectorOp::ge_f32:
            return handler_of<Ge<float>>(shape);
        case VectorOp::neu_f32:
            return handler_of<Eq<float, true>>(shape);
        case VectorOp::ltu_f32:
            return handler_of<Ge<float, true>>(shape);
        case VectorOp::leu_f32:
            return handler_of<Gt<float, true>>(shape);
        case VectorOp::gtu_f32:
            return handler_of<Le<float, true>>(shape);
        case VectorOp::geu_f32:
            return handler_of<Lt<float, true>>(shape);
        case VectorOp::eq_b32:
            return handler_of<Eq<std::uint32_t>>(shape);
        case VectorOp::ne_b32:
            return handler_of<Eq<std::uint32_t, true>>(shape);
        case VectorOp::lt_u32:
            return handler_of<Lt<std::uint32_t>>(shape);
        case VectorOp::le_u32:
            return handler_of<Gt<std::uint32_t, true>>(shape);
        case VectorOp::gt_u32:
            return handler_of<Gt<std::uint32_t>>(shape);
        case VectorOp::ge_u32:
            return handler_of<Lt<std::uint32_t, true>>(shape);
        case VectorOp::lt_s32:
            return handler_of<Lt<std::int32_t>>(shape);
        case VectorOp::le_s32:
            return handler_of<Gt<std::int32_t, true>>(shape);
        case VectorOp::gt_s32:
            return handler_of<Gt<std::int32_t>>(shape);
        case VectorOp::ge_s32:
            return handler_of<Lt<std::int32_t, true>>(shape);
        case VectorOp::eq_b64:
            return handler_of<Eq<std::uint64_t>>(shape);
        case VectorOp::ne_b64:
            return handler_of<Eq<std::uint64_t, true>>(shape);
        case VectorOp::lt_u64:
            return handler_of<Lt<std::uint64_t>>(shape);
        case VectorOp::le_u64:
            return handler_of<Gt<std::uint64_t, true>>(shape);
        case VectorOp::gt_u64:
            return handler_of<Gt<std::uint64_t>>(shape);
        case VectorOp::ge_u64:
            return handler_of<Lt<std::uint64_t, true>>(shape);
        case VectorOp::lt_s64:
            return handler_of<Lt<std::int64_t>>(shape);
        case VectorOp::le_s64:
            return handler_of<Gt<std::int64_t, true>>(shape);
        case VectorOp::gt_s64:
            return handler_of<Gt<std::int64_t>>(shape);
        case VectorOp::ge_s64:
            return handler_of<Lt<std::int64_t, true>>(shape);
        default:
            return nullptr;
    }
}

}  // namespace warpscope::emulator::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpscope::emulator {
HWY_EXPORT(find_compare_handler);
Handler compare_handler(VectorOp op, Shape shape) {
    return HWY_DYNAMIC_DISPATCH(find_compare_handler)(op, shape);
}
}  // namespace warpscope::emulator
#endif
