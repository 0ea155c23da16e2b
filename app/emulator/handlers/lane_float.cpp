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

// The bits of a float, a subnormal replaced by the zero of its sign.
std::uint32_t flushed(std::uint32_t bits) {
    return bits & 0x7F800000u ? bits : bits & 0x80000000u;
}

// .sat: into [0, 1], NaN to 0.
template <typename T>
T saturated(T a) {
    return a > 0 ? (a < 1 ? a : T(1)) : T(0);
}

template <typename T>
Handler both_widths(std::string_view op) {
    if (op == "div") return lanes<T, T, T>([](T a, T b) { return a / b; });
    if (op == "sqrt") return lanes<T, T>([](T a) { return std::sqrt(a); });
    if (op == "rcp") return lanes<T, T>([](T a) { return T(1) / a; });
    if (op == "rsqrt") return lanes<T, T>([](T a) { return T(1) / std::sqrt(a); });
    if (op == "min") return lanes<T, T, T>([](T a, T b) { return smaller(a, b); });
    if (op == "max") return lanes<T, T, T>([](T a, T b) { return larger(a, b); });
    if (op == "neg") return lanes<T, T>([](T a) { return -a; });
    if (op == "abs") return lanes<T, T>([](T a) { return std::abs(a); });
    if (op == "copysign") return lanes<T, T, T>([](T s, T a) { return std::copysign(a, s); });
    return nullptr;
}

Handler only_f32(std::string_view op) {
    using F = float;
    if (op == "add.sat") return lanes<F, F, F>([](F a, F b) { return saturated(a + b); });
    if (op == "sub.sat") return lanes<F, F, F>([](F a, F b) { return saturated(a - b); });
    if (op == "mul.sat") return lanes<F, F, F>([](F a, F b) { return saturated(a * b); });
    if (op == "fma.sat")
        return lanes<F, F, F, F>([](F a, F b, F c) { return saturated(std::fma(a, b, c)); });
    // neg and abs leave subnormals alone; their .ftz forms do not.
    using U = std::uint32_t;
    if (op == "neg.ftz") return lanes<U, U>([](U a) { return flushed(a) ^ 0x80000000u; });
    if (op == "abs.ftz") return lanes<U, U>([](U a) { return flushed(a) & 0x7FFFFFFFu; });
    if (op == "rsqrt.ftz")
        return lanes<U, F>([](U a) { return 1 / std::sqrt(std::bit_cast<F>(flushed(a))); });
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
Handler compare(std::string_view c) {
    if (c == "eq") return comparing<T>([](T a, T b) { return a == b; });
    if (c == "lt" || c == "lo") return comparing<T>([](T a, T b) { return a < b; });
    if (c == "le" || c == "ls") return comparing<T>([](T a, T b) { return a <= b; });
    if (c == "gt" || c == "hi") return comparing<T>([](T a, T b) { return a > b; });
    if (c == "ge" || c == "hs") return comparing<T>([](T a, T b) { return a >= b; });
    if constexpr (std::is_floating_point_v<T>) {
        if (c == "ne") return comparing<T>([](T a, T b) { return a < b || a > b; });
        if (c == "equ") return comparing<T>([](T a, T b) { return !(a < b || a > b); });
        if (c == "neu") return comparing<T>([](T a, T b) { return !(a == b); });
        if (c == "ltu") return comparing<T>([](T a, T b) { return !(a >= b); });
        if (c == "leu") return comparing<T>([](T a, T b) { return !(a > b); });
        if (c == "gtu") return comparing<T>([](T a, T b) { return !(a <= b); });
        if (c == "geu") return comparing<T>([](T a, T b) { return !(a < b); });
        if (c == "num") return comparing<T>([](T a, T b) { return a == a && b == b; });
        if (c == "nan") return comparing<T>([](T a, T b) { return a != a || b != b; });
    } else {
        if (c == "ne") return comparing<T>([](T a, T b) { return a != b; });
    }
    return nullptr;
}

}  // namespace

Handler float_lanes(std::string_view op, Type type) {
    if (type == Type::f64) return both_widths<double>(op);
    if (type != Type::f32) return nullptr;
    if (const Handler found = only_f32(op)) return found;
    return both_widths<float>(op);
}

Handler compare_lanes(std::string_view comparison, Type type) {
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
    const unsigned count = i->operands[0] & 1 ? 1 : lanes_per_warp;
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

}  // namespace warpscope::emulator
