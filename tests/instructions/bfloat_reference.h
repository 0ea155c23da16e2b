#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

namespace warpscope::tests {

/// The value of a bfloat16, by its definition.
inline double bfloat_value(std::uint64_t bits) {
    const int exponent = int(bits >> 7 & 0xff), digits = int(bits & 0x7f);
    const double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == 255)
        return digits ? std::copysign(std::numeric_limits<double>::quiet_NaN(), sign)
                      : sign * std::numeric_limits<double>::infinity();
    return sign * (exponent ? std::ldexp(128 + digits, exponent - 134) : std::ldexp(digits, -133));
}

/// The sign of a + b + c, without an error: what each sum loses is added behind it.
template <class Real>
int sign_of_sum(Real a, Real b, Real c) {
    const auto lost = [](Real x, Real y) {
        const Real sum = x + y, part = sum - x;
        return (x - (sum - part)) + (y - part);
    };
    const Real first = a + b, all = first + c, rest = lost(first, c) + lost(a, b);
    const Real total = all + rest;
    return (total > 0) - (total < 0);
}

/// The bfloat16 next to the exact a + b, found by bisection among all of them: to the nearest (ties
/// to the even one), or towards zero for "rz".
inline std::uint16_t bfloat_bits(long double a, long double b = -0.0L,
                                 std::string_view rounding = "rn") {
    if (std::isnan(a + b)) return 0x7fff;
    if (a + b == 0) return std::signbit(a + b) ? 0x8000 : 0;
    const std::uint16_t sign = a + b < 0 ? 0x8000 : 0;
    if (sign) a = -a, b = -b;
    if (std::isinf(a + b)) return sign | 0x7f80;
    const auto magnitude = [](unsigned bits) {  // infinity stands where 2^128 would
        return bits == 0x7f80 ? 0x1p128L : static_cast<long double>(bfloat_value(bits));
    };
    unsigned low = 0, high = 0x7f80;
    while (high - low > 1) {
        const unsigned middle = (low + high) / 2;
        (sign_of_sum(a, -magnitude(middle), b) >= 0 ? low : high) = middle;
    }
    const int above_middle = sign_of_sum(a, -(magnitude(low) + magnitude(high)) / 2, b);
    const bool up = rounding == "rn" && (above_middle > 0 || (above_middle == 0 && low & 1));
    return std::uint16_t(sign | (up ? high : low));
}

}  // namespace warpscope::tests
