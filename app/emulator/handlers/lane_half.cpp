// Arithmetic and comparisons of f16, bf16 and pairs of them (PTX ISA 9.7.4, "Half Precision
// Floating Point").
#include <cmath>
#include <span>
#include <type_traits>

#include "emulator/handlers/each_lane.h"
#include "emulator/handlers/half.h"
#include "emulator/handlers/lane_operations.h"
#include "emulator/warp/float_mode.h"

namespace warpscope::emulator {

namespace {

struct Add {
    auto operator()(auto a, auto b) const { return decltype(a)::of(double(a) + double(b)); }
};
struct Sub {
    auto operator()(auto a, auto b) const { return decltype(a)::of(double(a) - double(b)); }
};
struct Mul {
    auto operator()(auto a, auto b) const { return decltype(a)::of(double(a) * double(b)); }
};
struct Fma {
    auto operator()(auto a, auto b, auto c) const { return fused(a, b, c); }
};
struct Neg {
    auto operator()(auto a) const { return decltype(a){std::uint16_t(a.bits ^ a.sign)}; }
};
struct Abs {
    auto operator()(auto a) const { return decltype(a){std::uint16_t(a.bits & ~a.sign)}; }
};
struct Tanh {
    auto operator()(auto a) const { return decltype(a)::of(std::tanh(double(a))); }
};
struct Ex2 {
    auto operator()(auto a) const { return decltype(a)::of(std::exp2(double(a))); }
};

/// How a result is changed before it is stored.
enum class Clamp : std::uint8_t { none, saturates, rectifies };

template <class Op, bool flushes, Clamp clamp>
struct Modified {
    template <class... H>
    auto operator()(H... operands) const {
        auto result = flushes ? Op()(operands.flushed()...) : Op()(operands...);
        if (flushes) result = result.flushed();
        if (clamp == Clamp::saturates) return result.saturated();
        return clamp == Clamp::rectifies ? result.rectified() : result;
    }
};

// Applies an operation to both halves of a register.
template <class H, class Op>
struct Packed {
    template <class... U>
    std::uint32_t operator()(U... operands) const {
        const H low = Op()(H{std::uint16_t(operands)}...);
        const H high = Op()(H{std::uint16_t(operands >> 16)}...);
        return std::uint32_t(high.bits) << 16 | low.bits;
    }
};
template <class H, class Op>
struct Single {
    template <class... U>
    std::uint32_t operator()(U... operands) const {
        return Op()(H{operands}...).bits;
    }
};

/// `Sources`: one type for each source.
template <class H, class Op, class... Sources>
Handler of_arity(bool packed) {
    using std::uint16_t, std::uint32_t;
    if (packed)
        return each_lane<Packed<H, Op>, uint32_t, std::conditional_t<true, uint32_t, Sources>...>;
    return each_lane<Single<H, Op>, uint32_t, std::conditional_t<true, uint16_t, Sources>...>;
}

template <class Op, Clamp clamp, class... Sources>
Handler clamped(const Arithmetic& a) {
    const bool packed = is_pair(a.type);
    if (is_bfloat(a.type))
        return a.flushes ? of_arity<Bfloat, Modified<Op, true, clamp>, Sources...>(packed)
                         : of_arity<Bfloat, Modified<Op, false, clamp>, Sources...>(packed);
    return a.flushes ? of_arity<Half, Modified<Op, true, clamp>, Sources...>(packed)
                     : of_arity<Half, Modified<Op, false, clamp>, Sources...>(packed);
}

template <class Op, class... Sources>
Handler saturable(const Arithmetic& a) {
    return a.saturates ? clamped<Op, Clamp::saturates, Sources...>(a)
                       : clamped<Op, Clamp::none, Sources...>(a);
}

}  // namespace

Handler half_lanes(const Arithmetic& a) {
    if (is_bfloat(a.type) && a.saturates) return nullptr;
    switch (a.operation) {
        case Operation::fadd:
            return saturable<Add, int, int>(a);
        case Operation::fsub:
            return saturable<Sub, int, int>(a);
        case Operation::fmul:
            return saturable<Mul, int, int>(a);
        case Operation::fma:
            return a.rectifies ? clamped<Fma, Clamp::rectifies, int, int, int>(a)
                               : saturable<Fma, int, int, int>(a);
        default:
            break;
    }
    if (a.saturates) return nullptr;
    switch (a.operation) {
        case Operation::fneg:
            return clamped<Neg, Clamp::none, int>(a);
        case Operation::fabs:
            return clamped<Abs, Clamp::none, int>(a);
        case Operation::fex2:
            return clamped<Ex2, Clamp::none, int>(a);
        case Operation::ftanh:
            return clamped<Tanh, Clamp::none, int>(a);
        default:
            return nullptr;
    }
}

namespace {

/// min and max with all their modifiers, of values that a double holds.
double extremum(const Extremum& e, std::span<const double> values) {
    bool negative = false;
    double result = NAN;
    for (double value : values) {
        negative ^= std::signbit(value);
        if (e.ignores_signs) value = std::abs(value);
        if (e.keeps_nan && std::isnan(value)) return NAN;
        if (std::isnan(result)) {
            result = value;
        } else if (value == result) {
            if (std::signbit(value) == !e.is_max) result = value;  // -0 is less than +0
        } else if (e.is_max ? value > result : value < result) {
            result = value;
        }
    }
    return e.combines_signs && !std::isnan(result) ? std::copysign(result, negative ? -1.0 : 1.0)
                                                   : result;
}

/// Values of 32 bits as numbers: one float, or the halves of a register.
struct FloatLane {
    static constexpr unsigned count = 1;
    static double value(std::uint32_t bits, unsigned, bool flushes) {
        const float x = std::bit_cast<float>(bits);
        return flushes && std::abs(x) < 0x1p-126f ? std::copysign(0.0, double(x)) : double(x);
    }
    static std::uint32_t bits(double x) {
        return std::isnan(x) ? 0x7FFFFFFFu : std::bit_cast<std::uint32_t>(float(x));
    }
};
template <class H, unsigned halves>
struct ShortLane {
    static constexpr unsigned count = halves;
    static double value(std::uint32_t bits, unsigned half, bool flushes) {
        const H x{std::uint16_t(bits >> 16 * half)};
        return flushes ? x.flushed() : x;
    }
    static std::uint32_t bits(double x) { return H::of(x).bits; }
};

template <class Lane>
const Instruction* extremum_each(const Instruction* i, Warp& w) {
    const FloatMode mode(false);
    const Extremum e(i->detail);
    const unsigned count = is_uniform(i->operands[0]) ? 1 : lanes_per_warp;
    for (unsigned lane = 0; lane < count; ++lane) {
        std::uint32_t result = 0;
        for (unsigned half = 0; half < Lane::count; ++half) {
            double values[3];
            for (unsigned k = 0; k < e.sources; ++k)
                values[k] =
                    Lane::value(w.get<std::uint32_t>(i->operands[1 + k], lane), half, e.flushes);
            result |= Lane::bits(extremum(e, {values, e.sources})) << 16 * half;
        }
        w.set(i->operands[0], lane, result);
    }
    return i + 1;
}

}  // namespace

Handler extremum_lanes(Type type) {
    switch (type) {
        case Type::f32:
            return extremum_each<FloatLane>;
        case Type::f16:
            return extremum_each<ShortLane<Half, 1>>;
        case Type::f16x2:
            return extremum_each<ShortLane<Half, 2>>;
        case Type::bf16:
            return extremum_each<ShortLane<Bfloat, 1>>;
        case Type::bf16x2:
            return extremum_each<ShortLane<Bfloat, 2>>;
        default:
            return nullptr;
    }
}

namespace {

// `shift`: 16 for the upper half of a register.
template <class H, class Relation, bool inverse, bool flushes, unsigned shift>
const Instruction* compare_each(const Instruction* i, Warp& w) {
    const auto value = [&](unsigned operand, unsigned lane) -> double {
        const H h{std::uint16_t(w.get<std::uint32_t>(i->operands[operand], lane) >> shift)};
        return flushes ? h.flushed() : h;
    };
    std::uint32_t result = 0;
    for (unsigned lane = 0; lane < lanes_per_warp; ++lane)
        result |= std::uint32_t(Relation()(value(1, lane), value(2, lane))) << lane;
    w.predicate(i->operands[0]) = inverse ? ~result : result;
    return i + 1;
}

template <class H>
Handler comparison_of(Comparison comparison, bool flushes, bool high) {
    return lane::with_relation<true>(comparison, [&]<class Relation, bool inverse>() -> Handler {
        if (high)
            return flushes ? compare_each<H, Relation, inverse, true, 16>
                           : compare_each<H, Relation, inverse, false, 16>;
        return flushes ? compare_each<H, Relation, inverse, true, 0>
                       : compare_each<H, Relation, inverse, false, 0>;
    });
}

}  // namespace

Handler compare_halves(Comparison comparison, Type type, bool flushes, bool high) {
    return is_bfloat(type) ? comparison_of<Bfloat>(comparison, flushes, high)
                           : comparison_of<Half>(comparison, flushes, high);
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
