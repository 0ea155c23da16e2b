// Arithmetic and comparisons of f16 and f16x2 (PTX ISA 9.7.4, "Half Precision Floating Point").
#include <cmath>

#include "emulator/handlers/each_lane.h"
#include "emulator/handlers/half.h"
#include "emulator/handlers/lane_operations.h"

namespace warpscope::emulator {

namespace {

struct Add {
    Half operator()(Half a, Half b) const { return Half::of(double(a) + double(b)); }
};
struct Sub {
    Half operator()(Half a, Half b) const { return Half::of(double(a) - double(b)); }
};
struct Mul {
    Half operator()(Half a, Half b) const { return Half::of(double(a) * double(b)); }
};
struct Fma {
    Half operator()(Half a, Half b, Half c) const { return fused(a, b, c); }
};
struct Neg {
    Half operator()(Half a) const { return {std::uint16_t(a.bits ^ Half::sign)}; }
};
struct Abs {
    Half operator()(Half a) const { return {std::uint16_t(a.bits & ~Half::sign)}; }
};
struct Tanh {
    Half operator()(Half a) const { return Half::of(std::tanh(double(a))); }
};
struct Ex2 {
    Half operator()(Half a) const { return Half::of(std::exp2(double(a))); }
};

template <class Op, bool flushes, bool saturates>
struct Modified {
    template <class... H>
    Half operator()(H... operands) const {
        Half result = flushes ? Op()(operands.flushed()...) : Op()(operands...);
        if (flushes) result = result.flushed();
        return saturates ? result.saturated() : result;
    }
};

// Applies an operation to both halves of a register.
template <class Op>
struct Packed {
    template <class... U>
    std::uint32_t operator()(U... operands) const {
        const Half low = Op()(Half{std::uint16_t(operands)}...);
        const Half high = Op()(Half{std::uint16_t(operands >> 16)}...);
        return std::uint32_t(high.bits) << 16 | low.bits;
    }
};
template <class Op>
struct Single {
    template <class... U>
    std::uint32_t operator()(U... operands) const {
        return Op()(Half{operands}...).bits;
    }
};

template <class>
using Both = std::uint32_t;
template <class>
using One = std::uint16_t;

template <class Op, class... H>
Handler of_arity(bool packed) {
    if (packed) return each_lane<Packed<Op>, std::uint32_t, Both<H>...>;
    return each_lane<Single<Op>, std::uint32_t, One<H>...>;
}

template <class Op, class... H>
Handler modified(bool packed, bool flushes, bool saturates) {
    if (flushes)
        return saturates ? of_arity<Modified<Op, true, true>, H...>(packed)
                         : of_arity<Modified<Op, true, false>, H...>(packed);
    return saturates ? of_arity<Modified<Op, false, true>, H...>(packed)
                     : of_arity<Modified<Op, false, false>, H...>(packed);
}

}  // namespace

Handler half_lanes(const Arithmetic& a) {
    const bool packed = a.type == Type::f16x2;
    switch (a.operation) {
        case Operation::fadd:
            return modified<Add, Half, Half>(packed, a.flushes, a.saturates);
        case Operation::fsub:
            return modified<Sub, Half, Half>(packed, a.flushes, a.saturates);
        case Operation::fmul:
            return modified<Mul, Half, Half>(packed, a.flushes, a.saturates);
        case Operation::fma:
            return modified<Fma, Half, Half, Half>(packed, a.flushes, a.saturates);
        default:
            break;
    }
    if (a.saturates) return nullptr;
    switch (a.operation) {
        case Operation::fneg:
            return modified<Neg, Half>(packed, a.flushes, false);
        case Operation::fabs:
            return modified<Abs, Half>(packed, a.flushes, false);
        case Operation::fex2:
            return modified<Ex2, Half>(packed, a.flushes, false);
        case Operation::ftanh:
            return modified<Tanh, Half>(packed, a.flushes, false);
        default:
            return nullptr;
    }
}

namespace {

// `shift`: 16 for the upper half of a register.
template <class Relation, bool inverse, bool flushes, unsigned shift>
const Instruction* compare_each(const Instruction* i, Warp& w) {
    const auto value = [&](unsigned operand, unsigned lane) -> double {
        const Half h{std::uint16_t(w.get<std::uint32_t>(i->operands[operand], lane) >> shift)};
        return flushes ? h.flushed() : h;
    };
    std::uint32_t result = 0;
    for (unsigned lane = 0; lane < lanes_per_warp; ++lane)
        result |= std::uint32_t(Relation()(value(1, lane), value(2, lane))) << lane;
    w.predicate(i->operands[0]) = inverse ? ~result : result;
    return i + 1;
}

}  // namespace

Handler compare_halves(Comparison comparison, bool flushes, bool high) {
    return lane::with_relation<true>(comparison, [&]<class Relation, bool inverse>() -> Handler {
        if (high)
            return flushes ? compare_each<Relation, inverse, true, 16>
                           : compare_each<Relation, inverse, false, 16>;
        return flushes ? compare_each<Relation, inverse, true, 0>
                       : compare_each<Relation, inverse, false, 0>;
    });
}

const Instruction* set_halves(const Instruction* i, Warp& w) {
    const unsigned count = is_uniform(i->operands[0]) ? 1 : lanes_per_warp;
    const std::uint32_t low = w.predicate(i->operands[1]), high = w.predicate(i->operands[2]);
    const auto yes = std::uint32_t(i->immediate);
    for (unsigned lane = 0; lane < count; ++lane)
        w.set<std::uint32_t>(i->operands[0], lane,
                             (low >> lane & 1 ? yes : 0) | (high >> lane & 1 ? yes << 16 : 0));
    return i + 1;
}

}  // namespace warpscope::emulator
