#include <bit>
#include <cmath>
#include <limits>

#include "emulator/handlers/each_lane.h"
#include "emulator/handlers/lane_operations.h"

namespace warpscope::emulator {

namespace {

template <typename T>
T smaller(T a, T b) {
    if (std::isnan(a)) return b;
    if (std::isnan(b)) return a;
    return a == b ? (std::signbit(a) ? a : b) : a < b ? a : b;
}
template <typename T>
T larger(T a, T b) {
    if (std::isnan(a)) return b;
    if (std::isnan(b)) return a;
    return a == b ? (std::signbit(a) ? b : a) : a > b ? a : b;
}

// .sat: clamps to [0, 1]; NaN becomes 0.
template <typename T>
T saturated(T a) {
    return a > 0 ? (a < 1 ? a : T(1)) : T(0);
}

template <typename T>
Handler both_widths(Operation op) {
    if (op == Operation::fdiv) return lanes<T, T, T>([](T a, T b) { return a / b; });
    if (op == Operation::fsqrt) return lanes<T, T>([](T a) { return std::sqrt(a); });
    if (op == Operation::frcp) return lanes<T, T>([](T a) { return T(1) / a; });
    if (op == Operation::frsqrt) return lanes<T, T>([](T a) { return T(1) / std::sqrt(a); });
    if (op == Operation::fmin) return lanes<T, T, T>([](T a, T b) { return smaller(a, b); });
    if (op == Operation::fmax) return lanes<T, T, T>([](T a, T b) { return larger(a, b); });
    if (op == Operation::fneg) return lanes<T, T>([](T a) { return -a; });
    if (op == Operation::fabs) return lanes<T, T>([](T a) { return std::abs(a); });
    if (op == Operation::copysign)
        return lanes<T, T, T>([](T s, T a) { return std::copysign(a, s); });
    return nullptr;
}

// .sat
Handler saturating(Operation op) {
    using F = float;
    if (op == Operation::fadd) return lanes<F, F, F>([](F a, F b) { return saturated(a + b); });
    if (op == Operation::fsub) return lanes<F, F, F>([](F a, F b) { return saturated(a - b); });
    if (op == Operation::fmul) return lanes<F, F, F>([](F a, F b) { return saturated(a * b); });
    if (op == Operation::fma)
        return lanes<F, F, F, F>([](F a, F b, F c) { return saturated(std::fma(a, b, c)); });
    return nullptr;
}

template <typename T, typename F>
const Instruction* compare_each(const Instruction* i, Warp& w) {
    std::uint32_t result = 0;
    for (unsigned lane = 0; lane < lanes_per_warp; ++lane)
        result |= std::uint32_t(F{}(w.get<T>(i->operands[1], lane), w.get<T>(i->operands[2], lane)))
                  << lane;
    w.predicate(i->operands[0]) = result;
    return i + 1;
}
template <typename T, typename F>
Handler comparing(F) {
    return compare_each<T, F>;
}

template <typename T>
Handler compare(Comparison c) {
    if (c == Comparison::eq) return comparing<T>([](T a, T b) { return a == b; });
    if (c == Comparison::lt) return comparing<T>([](T a, T b) { return a < b; });
    if (c == Comparison::le) return comparing<T>([](T a, T b) { return a <= b; });
    if (c == Comparison::gt) return comparing<T>([](T a, T b) { return a > b; });
    if (c == Comparison::ge) return comparing<T>([](T a, T b) { return a >= b; });
    if constexpr (std::is_floating_point_v<T>) {
        if (c == Comparison::ne) return comparing<T>([](T a, T b) { return a < b || a > b; });
        if (c == Comparison::equ) return comparing<T>([](T a, T b) { return !(a < b || a > b); });
        if (c == Comparison::neu) return comparing<T>([](T a, T b) { return !(a == b); });
        if (c == Comparison::ltu) return comparing<T>([](T a, T b) { return !(a >= b); });
        if (c == Comparison::leu) return comparing<T>([](T a, T b) { return !(a > b); });
        if (c == Comparison::gtu) return comparing<T>([](T a, T b) { return !(a <= b); });
        if (c == Comparison::geu) return comparing<T>([](T a, T b) { return !(a < b); });
        if (c == Comparison::num) return comparing<T>([](T a, T b) { return a == a && b == b; });
        if (c == Comparison::nan) return comparing<T>([](T a, T b) { return a != a || b != b; });
    } else {
        if (c == Comparison::ne) return comparing<T>([](T a, T b) { return a != b; });
    }
    return nullptr;
}

}  // namespace

Handler float_lanes(const Arithmetic& a) {
    if (a.saturates) return a.type == Type::f32 ? saturating(a.operation) : nullptr;
    return a.type == Type::f64 ? both_widths<double>(a.operation) : both_widths<float>(a.operation);
}

Handler compare_lanes(Comparison comparison, Type type) {
    switch (type) {
        case Type::u16:
        case Type::b16:
            return compare<std::uint16_t>(comparison);
        case Type::s16:
            return compare<std::int16_t>(comparison);
        case Type::u32:
        case Type::b32:
            return compare<std::uint32_t>(comparison);
        case Type::s32:
            return compare<std::int32_t>(comparison);
        case Type::u64:
        case Type::b64:
            return compare<std::uint64_t>(comparison);
        case Type::s64:
            return compare<std::int64_t>(comparison);
        case Type::f32:
            return compare<float>(comparison);
        case Type::f64:
            return compare<double>(comparison);
        default:
            return nullptr;
    }
}

namespace {

template <typename T, typename F>
const Instruction* test_each(const Instruction* i, Warp& w) {
    std::uint32_t result = 0;
    for (unsigned lane = 0; lane < lanes_per_warp; ++lane)
        result |= std::uint32_t(F{}(w.get<T>(i->operands[1], lane))) << lane;
    w.predicate(i->operands[0]) = result;
    return i + 1;
}
template <typename T, typename F>
Handler testing(F) {
    return test_each<T, F>;
}

template <typename T>
Handler test(std::string_view name) {
    if (name == "finite") return testing<T>([](T a) { return std::isfinite(a); });
    if (name == "infinite") return testing<T>([](T a) { return std::isinf(a); });
    if (name == "number") return testing<T>([](T a) { return !std::isnan(a); });
    if (name == "notanumber") return testing<T>([](T a) { return std::isnan(a); });
    if (name == "normal") return testing<T>([](T a) { return std::isnormal(a); });
    if (name == "subnormal")
        return testing<T>([](T a) { return std::fpclassify(a) == FP_SUBNORMAL; });
    return nullptr;
}

}  // namespace

Handler test_lanes(std::string_view name, Type type) {
    return type == Type::f32 ? test<float>(name) : type == Type::f64 ? test<double>(name) : nullptr;
}

namespace {
template <std::uint32_t value>
const Instruction* set_each(const Instruction* i, Warp& w) {
    const unsigned count = is_uniform(i->operands[0]) ? 1 : lanes_per_warp;
    const std::uint32_t p = w.predicate(i->operands[1]);
    for (unsigned lane = 0; lane < count; ++lane)
        w.set<std::uint32_t>(i->operands[0], lane, p >> lane & 1 ? value : 0);
    return i + 1;
}
}  // namespace

Handler set_lanes(bool float_result) {
    return float_result ? set_each<0x3F800000> : set_each<~0u>;
}

const Instruction* predicate_and(const Instruction* i, Warp& w) {
    w.predicate(i->operands[0]) = w.predicate(i->operands[1]) & w.predicate(i->operands[2]);
    return i + 1;
}
const Instruction* predicate_or(const Instruction* i, Warp& w) {
    w.predicate(i->operands[0]) = w.predicate(i->operands[1]) | w.predicate(i->operands[2]);
    return i + 1;
}
const Instruction* predicate_xor(const Instruction* i, Warp& w) {
    w.predicate(i->operands[0]) = w.predicate(i->operands[1]) ^ w.predicate(i->operands[2]);
    return i + 1;
}
const Instruction* predicate_not(const Instruction* i, Warp& w) {
    w.predicate(i->operands[0]) = ~w.predicate(i->operands[1]);
    return i + 1;
}
const Instruction* predicate_move(const Instruction* i, Warp& w) {
    w.predicate(i->operands[0]) = w.predicate(i->operands[1]);
    return i + 1;
}

Handler predicate_handler(Operation operation) {
    switch (operation) {
        case Operation::and_:
            return predicate_and;
        case Operation::or_:
            return predicate_or;
        case Operation::xor_:
            return predicate_xor;
        case Operation::not_:
            return predicate_not;
        case Operation::mov:
            return predicate_move;
        default:
            return nullptr;
    }
}

}  // namespace warpscope::emulator
