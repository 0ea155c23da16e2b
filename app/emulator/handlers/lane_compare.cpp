// Comparisons without a SIMD handler, testp, set, and logic of predicates.
#include <bit>
#include <cmath>
#include <limits>

#include "emulator/handlers/each_lane.h"
#include "emulator/handlers/lane_operations.h"

namespace warpscope::emulator {

namespace {

template <typename T, class Relation, bool inverse>
const Instruction* compare_each(const Instruction* i, Warp& w) {
    std::uint32_t result = 0;
    for (unsigned lane = 0; lane < lanes_per_warp; ++lane)
        result |= std::uint32_t(
                      Relation()(w.get<T>(i->operands[1], lane), w.get<T>(i->operands[2], lane)))
                  << lane;
    w.predicate(i->operands[0]) = inverse ? ~result : result;
    return i + 1;
}

}  // namespace

Handler compare_lanes(Comparison comparison, Type type) {
    return with_type<types::ints | types::bits | types::f32_f64>(
        type, [&]<typename T>() -> Handler {
            return lane::with_relation<std::is_floating_point_v<T>>(
                comparison, []<class Relation, bool inverse>() -> Handler {
                    return compare_each<T, Relation, inverse>;
                });
        });
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
