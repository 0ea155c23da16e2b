#include "emulator/handlers/handlers.h"
#include "emulator/handlers/lane_operations.h"

// The choice between SIMD handlers and those that run lane by lane.
namespace warpscope::emulator {

Handler arithmetic_handler(const Arithmetic& a, OperandKinds kinds) {
    if (a.type == Type::pred) return predicate_handler(a.operation);
    if (a.operation == Operation::mov) return move_handler(bits_of(a.type), kinds);
    if (a.operation == Operation::selp) return select_handler(bits_of(a.type), kinds);
    if (is_half(a.type)) return half_lanes(a);
    if (a.flushes)
        return a.type == Type::f32 && !a.saturates ? flushing_handler(a.operation, kinds) : nullptr;
    Handler simd = nullptr;
    if (!a.saturates)
        simd = is_float(a.type) ? float_handler(a.operation, a.type, kinds)
                                : integer_handler(a.operation, a.type, kinds);
    if (simd) return simd;
    return is_float(a.type) ? float_lanes(a) : integer_lanes(a);
}

Handler conversion_handler(const Conversion& c, OperandKinds kinds) {
    const Handler simd = simd_conversion_handler(c, kinds);
    return simd ? simd : conversion_lanes(c);
}

Handler comparison_handler(Comparison comparison, Type type, OperandKinds kinds) {
    const Handler simd = simd_comparison_handler(comparison, type, kinds);
    return simd ? simd : compare_lanes(comparison, type);
}

}  // namespace warpscope::emulator
