// Conversions without a SIMD handler, and mov that packs or unpacks a register.
#include <cmath>
#include <limits>
#include <type_traits>

#include "emulator/handlers/each_lane.h"
#include "emulator/handlers/lane_operations.h"

namespace warpscope::emulator {

namespace {

struct Mode {
    Rounding rounding;
    bool to_integral, saturate, rectify;
    explicit Mode(const Instruction* i)
        : rounding(Rounding(i->detail & 7)),
          to_integral(i->detail & 8),
          saturate(i->detail & 16),
          rectify(i->detail & 32) {}
};

template <typename T>
constexpr bool is_short = std::is_same_v<T, Half> || std::is_same_v<T, Bfloat>;

/// A float with the digits of a half: its last 13 bits are 0.
struct Tf32 {
    std::uint32_t bits = 0;
};

Tf32 to_tf32(float a, const Mode& mode) {
    constexpr std::uint32_t rest = 0x1FFF, half = 0x1000, sign = 0x80000000;
    const auto bits = std::bit_cast<std::uint32_t>(a);
    if (std::isnan(a)) return {0x7FFFFFFF};
    if (mode.rectify && bits & sign) return {0};
    if (std::isinf(a)) return {bits};
    const std::uint32_t added = mode.rounding == Rounding::nearest_away ? half
                                : mode.rounding == Rounding::nearest ? half - 1 + (bits >> 13 & 1)
                                                                     : 0;
    return {(bits + added) & ~rest};
}

template <typename F>
F rounded(F a, Rounding rounding) {
    switch (rounding) {
        case Rounding::nearest:
            return std::nearbyint(a);
        case Rounding::down:
            return std::floor(a);
        case Rounding::up:
            return std::ceil(a);
        default:
            return std::trunc(a);
    }
}

// `a` in a narrower float type. The conversion rounds to nearest; for another rounding the result
// moves by one unit in the last place.
template <typename To, typename From>
To narrowed(From a, Rounding rounding) {
    const To r = To(a);
    const From back = From(r);
    constexpr To infinity = std::numeric_limits<To>::infinity();
    if (rounding == Rounding::down || (rounding == Rounding::zero && a > 0))
        return back > a ? std::nextafter(r, -infinity) : r;
    if (rounding == Rounding::up || (rounding == Rounding::zero && a < 0))
        return back < a ? std::nextafter(r, infinity) : r;
    return r;
}

/// A 64-bit integer as a double that is odd where digits are lost, so that it can be rounded again.
template <typename T>
double with_odd_digits(T a) {
    using U = std::make_unsigned_t<T>;
    constexpr U lost = 2047;
    const bool negative = a < 0;
    U magnitude = negative ? U(0) - U(a) : U(a);
    if (magnitude >> 53) magnitude = (magnitude & ~lost) | (magnitude & lost ? lost + 1 : 0);
    const auto value = double(magnitude);
    return negative ? -value : value;
}

template <typename To, typename From>
To converted(From a, const Mode& mode) {
    if constexpr (std::is_same_v<To, Tf32>) {
        return to_tf32(a, mode);
    } else if constexpr (is_short<To>) {
        double value = double(a);
        if constexpr (std::is_integral_v<From> && sizeof(From) == 8) value = with_odd_digits(a);
        const To result =
            mode.to_integral ? To::of(rounded(value, mode.rounding)) : To::of(value, mode.rounding);
        if (mode.rectify) return result.rectified();
        return mode.saturate ? result.saturated() : result;
    } else if constexpr (is_short<From>) {
        return converted<To, float>(float(a), mode);
    } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
        using Limits = std::numeric_limits<To>;
        // PTX ISA, cvt: NaN from f32 to at most 32 bits gives 0, otherwise only the sign bit is
        // set.
        constexpr bool zero = sizeof(From) == 4 && sizeof(To) <= 4;
        if (a != a) return zero ? To(0) : To(To(1) << (8 * sizeof(To) - 1));
        const From x = rounded(a, mode.rounding);
        if (x >= std::ldexp(From(1), Limits::digits)) return Limits::max();
        if (x < From(Limits::min())) return Limits::min();
        return To(x);
    } else if constexpr (std::is_integral_v<From> && std::is_integral_v<To>) {
        if (mode.saturate) {
            if (std::cmp_greater(a, std::numeric_limits<To>::max()))
                return std::numeric_limits<To>::max();
            if (std::cmp_less(a, std::numeric_limits<To>::min()))
                return std::numeric_limits<To>::min();
        }
        return To(a);
    } else if constexpr (std::is_integral_v<From>) {
        // long double holds every 64-bit integer.
        return narrowed<To, long double>((long double)(a), mode.rounding);
    } else {
        To r;
        if constexpr (sizeof(To) < sizeof(From))
            r = narrowed<To, From>(a, mode.rounding);
        else
            r = To(mode.to_integral ? rounded(a, mode.rounding) : a);
        if (mode.saturate) r = r > 0 ? (r < 1 ? r : To(1)) : To(0);
        return r;
    }
}

template <typename To, typename From>
const Instruction* convert(const Instruction* i, Warp& w) {
    // An integer narrower than 32 bits is extended to the 32 bits of its slot.
    using Stored =
        std::conditional_t<std::is_integral_v<To> && sizeof(To) < 4,
                           std::conditional_t<std::is_signed_v<To>, std::int32_t, std::uint32_t>,
                           To>;
    const Mode mode(i);
    const unsigned count = is_uniform(i->operands[0]) ? 1 : lanes_per_warp;
    for (unsigned lane = 0; lane < count; ++lane)
        w.set<Stored>(i->operands[0], lane,
                      Stored(converted<To, From>(w.get<From>(i->operands[1], lane), mode)));
    return i + 1;
}

template <typename To>
Handler from(Type type) {
    switch (type) {
        case Type::u8:
            return convert<To, std::uint8_t>;
        case Type::s8:
            return convert<To, std::int8_t>;
        case Type::u16:
            return convert<To, std::uint16_t>;
        case Type::s16:
            return convert<To, std::int16_t>;
        case Type::u32:
            return convert<To, std::uint32_t>;
        case Type::s32:
            return convert<To, std::int32_t>;
        case Type::u64:
            return convert<To, std::uint64_t>;
        case Type::s64:
            return convert<To, std::int64_t>;
        case Type::f16:
            return convert<To, Half>;
        case Type::bf16:
            return convert<To, Bfloat>;
        case Type::f32:
            return convert<To, float>;
        case Type::f64:
            return convert<To, double>;
        default:
            return nullptr;
    }
}

}  // namespace

Handler conversion_lanes(const Conversion& c) {
    switch (c.to) {
        case Type::u8:
            return from<std::uint8_t>(c.from);
        case Type::s8:
            return from<std::int8_t>(c.from);
        case Type::u16:
            return from<std::uint16_t>(c.from);
        case Type::s16:
            return from<std::int16_t>(c.from);
        case Type::u32:
            return from<std::uint32_t>(c.from);
        case Type::s32:
            return from<std::int32_t>(c.from);
        case Type::u64:
            return from<std::uint64_t>(c.from);
        case Type::s64:
            return from<std::int64_t>(c.from);
        case Type::f16:
            return from<Half>(c.from);
        case Type::bf16:
            return from<Bfloat>(c.from);
        case Type::tf32:
            return c.from == Type::f32 ? convert<Tf32, float> : nullptr;
        case Type::f32:
            return from<float>(c.from);
        case Type::f64:
            return from<double>(c.from);
        default:
            return nullptr;
    }
}

std::uint16_t encode_rounding(const Conversion& c) {
    return std::uint16_t(std::uint16_t(c.rounding) | (c.to_integral ? 8 : 0) |
                         (c.saturate ? 16 : 0) | (c.rectify ? 32 : 0));
}

namespace {
template <typename To>
const Instruction* convert_pair(const Instruction* i, Warp& w) {
    const Mode mode(i);
    const unsigned count = is_uniform(i->operands[0]) ? 1 : lanes_per_warp;
    const auto part = [&](unsigned operand, unsigned lane) {
        return std::uint32_t(
            converted<To, float>(w.get<float>(i->operands[operand], lane), mode).bits);
    };
    for (unsigned lane = 0; lane < count; ++lane)
        w.set(i->operands[0], lane, part(1, lane) << 16 | part(2, lane));
    return i + 1;
}
}  // namespace

Handler pair_conversion(const Conversion& c) {
    if (c.from != Type::f32 || c.to_integral || c.saturate) return nullptr;
    return c.to == Type::f16x2    ? convert_pair<Half>
           : c.to == Type::bf16x2 ? convert_pair<Bfloat>
                                  : nullptr;
}

const Instruction* pack_32(const Instruction* i, Warp& w) {
    return each_lane<decltype([](std::uint32_t lo, std::uint32_t hi) {
                         return std::uint64_t(hi) << 32 | lo;
                     }),
                     std::uint64_t, std::uint32_t, std::uint32_t>(i, w);
}
const Instruction* pack_16(const Instruction* i, Warp& w) {
    return each_lane<decltype([](std::uint16_t lo, std::uint16_t hi) {
                         return std::uint32_t(hi) << 16 | lo;
                     }),
                     std::uint32_t, std::uint16_t, std::uint16_t>(i, w);
}
const Instruction* pack_4x16(const Instruction* i, Warp& w) {
    using U = std::uint16_t;
    return each_lane<decltype([](U a, U b, U c, U d) {
                         return std::uint64_t(d) << 48 | std::uint64_t(c) << 32 |
                                std::uint64_t(b) << 16 | a;
                     }),
                     std::uint64_t, U, U, U, U>(i, w);
}

namespace {
template <typename Whole, typename Half>
const Instruction* unpack(const Instruction* i, Warp& w) {
    for (std::uint32_t lane = 0; lane < lanes_per_warp; ++lane) {
        if (!(w.mask >> lane & 1)) continue;
        const auto whole = w.get<Whole>(i->operands[2], lane);
        if (i->operands[0]) w.set<std::uint32_t>(i->operands[0], lane, Half(whole));
        if (i->operands[1])
            w.set<std::uint32_t>(i->operands[1], lane, Half(whole >> 8 * sizeof(Half)));
    }
    return i + 1;
}
}  // namespace

const Instruction* unpack_32(const Instruction* i, Warp& w) {
    return unpack<std::uint64_t, std::uint32_t>(i, w);
}
const Instruction* unpack_16(const Instruction* i, Warp& w) {
    return unpack<std::uint32_t, std::uint16_t>(i, w);
}

}  // namespace warpscope::emulator
