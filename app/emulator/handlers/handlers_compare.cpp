#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "emulator/handlers/handlers_compare.cpp"
#include <hwy/foreach_target.h>

#include "emulator/handlers/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace warpscope::emulator::HWY_NAMESPACE {
namespace {

// `negated` gives the comparisons that are true where an operand is NaN: neu is !eq, ltu is !ge.
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

// ne of floats is false where an operand is NaN; the negated eq is true there.
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
    for (std::size_t l = 0; l < lanes_per_warp; l += hn::Lanes(d)) {
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
Handler handler_of(OperandKinds kinds) {
    static constexpr Handler table[] = {compare<Op, false, false>, compare<Op, true, false>,
                                        compare<Op, false, true>, compare_scalar<Op>};
    return table[kinds.uniform_sources & 3];
}

// T is a signed or unsigned integer.
template <typename T>
Handler compare_integers(Comparison comparison, OperandKinds kinds) {
    using U = std::make_unsigned_t<T>;
    switch (comparison) {
        case Comparison::eq:
            return handler_of<Eq<U>>(kinds);
        case Comparison::ne:
            return handler_of<Eq<U, true>>(kinds);
        case Comparison::lt:
            return handler_of<Lt<T>>(kinds);
        case Comparison::le:
            return handler_of<Gt<T, true>>(kinds);
        case Comparison::gt:
            return handler_of<Gt<T>>(kinds);
        case Comparison::ge:
            return handler_of<Lt<T, true>>(kinds);
        default:
            return nullptr;
    }
}

Handler compare_floats(Comparison comparison, OperandKinds kinds) {
    switch (comparison) {
        case Comparison::eq:
            return handler_of<Eq<float>>(kinds);
        case Comparison::ne:
            return handler_of<NeNumber>(kinds);
        case Comparison::lt:
            return handler_of<Lt<float>>(kinds);
        case Comparison::le:
            return handler_of<Le<float>>(kinds);
        case Comparison::gt:
            return handler_of<Gt<float>>(kinds);
        case Comparison::ge:
            return handler_of<Ge<float>>(kinds);
        case Comparison::neu:
            return handler_of<Eq<float, true>>(kinds);
        case Comparison::ltu:
            return handler_of<Ge<float, true>>(kinds);
        case Comparison::leu:
            return handler_of<Gt<float, true>>(kinds);
        case Comparison::gtu:
            return handler_of<Le<float, true>>(kinds);
        case Comparison::geu:
            return handler_of<Lt<float, true>>(kinds);
        default:
            return nullptr;
    }
}

}  // namespace

Handler find_compare_handler(Comparison comparison, Type type, OperandKinds kinds) {
    switch (type) {
        case Type::f32:
            return compare_floats(comparison, kinds);
        case Type::u32:
        case Type::b32:
            return compare_integers<std::uint32_t>(comparison, kinds);
        case Type::s32:
            return compare_integers<std::int32_t>(comparison, kinds);
        case Type::u64:
        case Type::b64:
            return compare_integers<std::uint64_t>(comparison, kinds);
        case Type::s64:
            return compare_integers<std::int64_t>(comparison, kinds);
        default:
            return nullptr;
    }
}

}  // namespace warpscope::emulator::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpscope::emulator {
HWY_EXPORT(find_compare_handler);
Handler simd_comparison_handler(Comparison comparison, Type type, OperandKinds kinds) {
    return HWY_DYNAMIC_DISPATCH(find_compare_handler)(comparison, type, kinds);
}
}  // namespace warpscope::emulator
#endif
