#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "emulator/handlers/handlers_compare.cpp"
#include <hwy/foreach_target.h>

#include "emulator/handlers/lane_operations.h"
#include "emulator/handlers/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace warpscope::emulator::HWY_NAMESPACE {
namespace {

template <class Relation, bool inverse, typename T, bool a_uniform, bool b_uniform>
const Instruction* compare(const Instruction* i, Warp& w) {
    const Full<T> d;
    const Source<a_uniform, decltype(d)> a(d, w, i->operands[1]);
    const Source<b_uniform, decltype(d)> b(d, w, i->operands[2]);
    std::uint32_t result = 0;
    for (std::size_t l = 0; l < lanes_per_warp; l += hn::Lanes(d)) {
        std::uint64_t bits = 0;
        hn::StoreMaskBits(d, Relation()(a.at(l), b.at(l)), reinterpret_cast<std::uint8_t*>(&bits));
        result |= std::uint32_t(bits << l);
    }
    w.predicate(i->operands[0]) = inverse ? ~result : result;
    return i + 1;
}

template <class Relation, bool inverse, typename T>
const Instruction* compare_scalar(const Instruction* i, Warp& w) {
    const One<T> d;
    const auto a = hn::Set(d, *uniform_slot<T>(w, i->operands[1]));
    const auto b = hn::Set(d, *uniform_slot<T>(w, i->operands[2]));
    const bool result = !hn::AllFalse(d, Relation()(a, b));
    w.predicate(i->operands[0]) = result != inverse ? all_lanes : 0;
    return i + 1;
}

template <class Relation, bool inverse, typename T>
Handler handler_of(OperandKinds kinds) {
    static constexpr Handler table[] = {
        compare<Relation, inverse, T, false, false>, compare<Relation, inverse, T, true, false>,
        compare<Relation, inverse, T, false, true>, compare_scalar<Relation, inverse, T>};
    return table[kinds.uniform_sources & 3];
}

}  // namespace

Handler find_compare_handler(Comparison comparison, Type type, OperandKinds kinds) {
    using namespace types;
    return with_type<int_32 | int_64 | b32 | b64 | f32>(type, [&]<typename T>() -> Handler {
        using Unsigned = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                                     std::type_identity<T>>::type;
        return with_relation<std::is_floating_point_v<T>>(
            comparison, [&]<class Relation, bool inverse>() -> Handler {
                // Equality does not depend on the sign: both kinds of integers share a handler.
                if constexpr (std::is_integral_v<T> && std::is_same_v<Relation, Same>)
                    return handler_of<Relation, inverse, Unsigned>(kinds);
                else
                    return handler_of<Relation, inverse, T>(kinds);
            });
    });
}

}  // namespace warpscope::emulator::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpscope::emulator {
HWY_EXPORT(find_compare_handler);

Handler comparison_handler(Comparison comparison, Type type, OperandKinds kinds) {
    const Handler simd = HWY_DYNAMIC_DISPATCH(find_compare_handler)(comparison, type, kinds);
    return simd ? simd : compare_lanes(comparison, type);
}
}  // namespace warpscope::emulator
#endif
