#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "emulator/handlers/operations.h"

namespace warpscope::emulator {

/// An IEEE 754 binary16 value. Arithmetic uses double, which holds every sum and product of two
/// halves exactly. No intermediate result is a subnormal double, so the CPU's flush mode does not
/// matter.
struct Half {
    std::uint16_t bits = 0;

    static constexpr std::uint16_t sign = 0x8000, infinity = 0x7C00, largest = 0x7BFF, nan = 0x7FFF,
                                   one = 0x3C00;

    static Half of(double value, Rounding rounding = Rounding::nearest) {
        const auto raw = std::bit_cast<std::uint64_t>(value);
        const auto negative = std::uint16_t(raw >> 48 & sign);
        const std::uint64_t magnitude = raw & ~(1ull << 63);
        constexpr std::uint64_t infinite = 0x7FFull << 52, smallest_normal = 1ull << 52;
        if (magnitude > infinite) return {nan};
        if (magnitude == infinite) return {std::uint16_t(negative | infinity)};
        if (magnitude == 0) return {negative};
        // All values below the range of a half round in one way.
        const double a =
            std::bit_cast<double>(magnitude < smallest_normal ? smallest_normal : magnitude);
        const int exponent = std::ilogb(a);
        if (exponent > 15) return overflow(negative, rounding);
        const int unit = (exponent < -14 ? -14 : exponent) - 10;  // of the last place
        const double scaled = a * std::bit_cast<double>(std::uint64_t(1023 - unit) << 52);
        auto digits = std::uint32_t(scaled);
        const double rest = scaled - digits;
        const bool away = rounding == Rounding::up ? !negative : negative != 0;
        if (rounding == Rounding::nearest || rounding == Rounding::none)
            digits += rest > 0.5 || (rest == 0.5 && (digits & 1));
        else if (rounding != Rounding::zero)
            digits += away && rest > 0;
        // A carry out of the significand increments the exponent.
        const std::uint32_t result =
            exponent < -14 ? digits : (std::uint32_t(exponent + 15) << 10) + digits - 1024;
        if (result >= infinity) return overflow(negative, rounding);
        return {std::uint16_t(negative | result)};
    }

    operator double() const {
        const int exponent = bits >> 10 & 31;
        const std::uint64_t top = std::uint64_t(bits & sign) << 48, digits = bits & 0x3FF;
        if (exponent == 31) return std::bit_cast<double>(top | 0x7FFull << 52 | digits << 42);
        if (exponent)
            return std::bit_cast<double>(top | std::uint64_t(exponent + 1008) << 52 | digits << 42);
        const double value = double(digits) * 0x1p-24;
        return top ? -value : value;
    }

    bool is_nan() const { return (bits & 0x7FFF) > infinity; }
    /// .ftz: a subnormal becomes the zero of its sign.
    Half flushed() const { return {std::uint16_t(bits & infinity ? bits : bits & sign)}; }
    /// .sat: clamps to [0, 1]; NaN becomes 0.
    Half saturated() const {
        if (is_nan() || bits & sign) return {0};
        return {bits < one ? bits : one};
    }

  private:
    static Half overflow(std::uint16_t negative, Rounding rounding) {
        const bool stays = rounding == Rounding::zero ||
                           (rounding == Rounding::down && !negative) ||
                           (rounding == Rounding::up && negative);
        return {std::uint16_t(negative | (stays ? largest : infinity))};
    }
};

/// a * b + c with one rounding. A double loses digits of the sum only if the product is so small
/// compared with c that the result is c.
inline Half fused(Half a, Half b, Half c) {
    return Half::of(double(a) * double(b) + double(c));
}

}  // namespace warpscope::emulator
