#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

namespace warpscope::tests {

/// The value of a binary16, by its definition.
inline double half_value(std::uint64_t bits) {
    const int exponent = int(bits >> 10 & 31), digits = int(bits & 0x3ff);
    const double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == 31)
        return digits ? std::copysign(std::numeric_limits<double>::quiet_NaN(), sign)
                      : sign * std::numeric_limits<double>::infinity();
    return sign * (exponent ? std::ldexp(1024 + digits, exponent - 25) : std::ldexp(digits, -24));
}

/// The binary16 next to `value`, found by bisection among all of them: to the nearest (ties to the
/// even one), or as "rz", "rm", "rp" say.
inline std::uint16_t half_bits(long double value, std::string_view rounding = "rn") {
    if (std::isnan(value)) return 0x7fff;
    const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    const long double a = std::abs(value);
    if (std::isinf(a)) return sign | 0x7c00;
    const auto magnitude = [](unsigned bits) {  // infinity stands where 65536 would
        return bits == 0x7c00 ? 65536.0 : half_value(bits);
    };
    unsigned low = 0, high = 0x7c00;
    while (high - low > 1) {
        const unsigned middle = (low + high) / 2;
        (magnitude(middle) <= a ? low : high) = middle;
    }
    const long double below = a - magnitude(low), above = magnitude(high) - a;
    if (below == 0) return std::uint16_t(sign | low);
    bool up = rounding == "rp" ? !sign : rounding == "rm" && sign;
    if (rounding == "rn") up = below == above ? low & 1 : below > above;
    return std::uint16_t(sign | (up ? high : low));
}

/// a * b + c rounded once: 64 digits hold the exact sum wherever it is not beyond a half's range.
inline std::uint16_t half_fused(double a, double b, double c) {
    static_assert(std::numeric_limits<long double>::digits >= 64);
    return half_bits(static_cast<long double>(a) * b + c);
}

}  // namespace warpscope::tests
