#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "emulator/handlers/handlers_arithmetic.cpp"
#include <hwy/foreach_target.h>

#include "emulator/handlers/lane_operations.h"
#include "emulator/handlers/simd-inl.h"

// The SIMD handlers of the operations in operations.def.
HWY_BEFORE_NAMESPACE();
namespace warpscope::emulator::HWY_NAMESPACE {
namespace {

float log2_of(float x) {
    return x == 0 ? -INFINITY : std::log2(x);  // libm does not flush subnormals
}
float tanh_of(float x) {
    return std::tanh(x);
}

template <class V>
HWY_INLINE V logarithm_by_lane(V a) {
    return by_lane<log2_of>(a);
}
template <class V>
HWY_INLINE V tangent_by_lane(V a) {
    return by_lane<tanh_of>(a);
}

namespace meaning {
#include "emulator/handlers/operations.def"
}

template <unsigned sources, class Op>
Handler handler_of(OperandKinds kinds) {
    if constexpr (sources == 1)
        return unary_handler<Op>(kinds);
    else if constexpr (sources == 2)
        return binary_handler<Op>(kinds);
    else
        return ternary_handler<Op>(kinds);
}

template <unsigned sources, class Meaning, template <typename> class Operands, TypeSet simd>
Handler handler_of(Type type, OperandKinds kinds) {
    return with_type<simd>(type, [&]<typename T>() -> Handler {
        return handler_of<sources, Typed<Meaning, Operands<T>>>(kinds);
    });
}

}  // namespace

Handler find_arithmetic_handler(Operation operation, Type type, OperandKinds kinds) {
    using namespace types;
    switch (operation) {
#define OPERATION(sources, operation, sources_and_result, types, simd, compiled, ...)            \
    case Operation::operation:                                                                   \
        return handler_of<sources, meaning::operation, operands::sources_and_result, simd>(type, \
                                                                                           kinds);
#define FLUSHING(...)
#include "emulator/handlers/operations.def"
        default:
            return nullptr;
    }
}

Handler find_flushing_handler(Operation operation, OperandKinds kinds) {
    switch (operation) {
#define OPERATION(...)
#define FLUSHING(operation, ...) \
    case Operation::operation:   \
        return unary_handler<Typed<meaning::operation##_ftz, operands::Equal<float>>>(kinds);
#include "emulator/handlers/operations.def"
        default:
            return nullptr;
    }
}

}  // namespace warpscope::emulator::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpscope::emulator {
HWY_EXPORT(find_arithmetic_handler);
HWY_EXPORT(find_flushing_handler);

Handler arithmetic_handler(const Arithmetic& a, OperandKinds kinds) {
    if (a.type == Type::pred) return predicate_handler(a.operation);
    if (a.operation == Operation::mov) return move_handler(bits_of(a.type), kinds);
    if (a.operation == Operation::selp) return select_handler(bits_of(a.type), kinds);
    if (is_half(a.type)) return half_lanes(a);
    if (a.flushes)
        return a.type == Type::f32 && !a.saturates
                   ? HWY_DYNAMIC_DISPATCH(find_flushing_handler)(a.operation, kinds)
                   : nullptr;
    if (a.saturates) return saturating_lanes(a);
    const Handler simd = HWY_DYNAMIC_DISPATCH(find_arithmetic_handler)(a.operation, a.type, kinds);
    return simd ? simd : arithmetic_lanes(a.operation, a.type);
}
}  // namespace warpscope::emulator
#endif
