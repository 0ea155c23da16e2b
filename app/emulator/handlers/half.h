#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "emulator/handlers/operations.h"

namespace warpscope::emulator {

/// A float of 16 bits: a sign, an exponent, and `digit_bits` bits behind the leading one.
/// Arithmetic uses double, which holds every product of two of them exactly. No intermediate result
/// is a subnormal double, so the CPU's flush mode does not matter.
template <unsigned digit_bits, int most_exponent>
struct ShortFloat {
    std::uint16_t bits = 0;

    static constexpr std::uint16_t sign = 0x8000, infinity = (2 * most_exponent + 1) << digit_bits,
                                   largest = infinity - 1, nan = 0x7FFF,
                                   one = most_exponent << digit_bits;
    static constexpr int least_exponent = 1 - most_exponent;

    static ShortFloat of(double value, Rounding rounding = Rounding::nearest) {
        const auto raw = std::bit_cast<std::uint64_t>(value);
        const auto negative = std::uint16_t(raw >> 48 & sign);
        const std::uint64_t magnitude = raw & ~(1ull << 63);
        constexpr std::uint64_t infinite = 0x7FFull << 52, smallest_normal = 1ull << 52;
        if (magnitude > infinite) return {nan};
        if (magnitude == infinite) return {std::uint16_t(negative | infinity)};
        if (magnitude == 0) return {negative};
        // All values below its range round in one way.
        const double a =
            std::bit_cast<double>(magnitude < smallest_normal ? smallest_normal : magnitude);
        const int exponent = std::ilogb(a);
        if (exponent > most_exponent) return overflow(negative, rounding);
        const int unit =  // of the last place
            (exponent < least_exponent ? least_exponent : exponent) - int(digit_bits);
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
            exponent < least_exponent
                ? digits
                : (std::uint32_t(exponent + most_exponent - 1) << digit_bits) + digits;
        if (result >= infinity) return overflow(negative, rounding);
        return {std::uint16_t(negative | result)};
    }

    operator double() const {
        constexpr int exponents = 2 * most_exponent + 1;
        const int exponent = bits >> digit_bits & exponents;
        const std::uint64_t top = std::uint64_t(bits & sign) << 48,
                            digits = bits & ((1u << digit_bits) - 1), shift = 52 - digit_bits;
        if (exponent == exponents)
            return std::bit_cast<double>(top | 0x7FFull << 52 | digits << shift);
        if (exponent)
            return std::bit_cast<double>(
                top | std::uint64_t(exponent + 1023 - most_exponent) << 52 | digits << shift);
        constexpr double least =
            std::bit_cast<double>(std::uint64_t(1023 + least_exponent - int(digit_bits)) << 52);
        const double value = double(digits) * least;
        return top ? -value : value;
    }

    bool is_nan() const { return (bits & 0x7FFF) > infinity; }
    /// .ftz: a subnormal becomes the zero of its sign.
    ShortFloat flushed() const { return {std::uint16_t(bits & infinity ? bits : bits & sign)}; }
    /// .sat: clamps to [0, 1]; NaN becomes 0.
    ShortFloat saturated() const {
        if (is_nan() || bits & sign) return {0};
        return {bits < one ? bits : one};
    }
    /// .relu: negative values become 0, and NaN the canonical one.
    ShortFloat rectified() const {
        if (is_nan()) return {nan};
        return {bits & sign ? std::uint16_t(0) : bits};
    }

  private:
    static ShortFloat overflow(std::uint16_t negative, Rounding rounding) {
        const bool stays = rounding == Rounding::zero ||
                           (rounding == Rounding::down && !negative) ||
                           (rounding == Rounding::up && negative);
        return {std::uint16_t(negative | (stays ? largest : infinity))};
    }
};

using Half = ShortFloat<10, 15>;    ///< IEEE 754 binary16
using Bfloat = ShortFloat<7, 127>;  ///< bfloat16

/// a * b + c with one rounding. The exact product is added as a double whose last bit is set where
/// digits are lost, so that rounding it again sees that it lies between two values.
template <class Float>
Float fused(Float a, Float b, Float c) {
    const double product = double(a) * double(b), addend = c, sum = product + addend;
    const double part = sum - product, lost = (product - (sum - part)) + (addend - part);
    auto bits = std::bit_cast<std::uint64_t>(sum);
    if (std::isfinite(sum) && lost != 0 && !(bits & 1)) bits += (lost < 0) == (sum < 0) ? 1 : -1;
    return Float::of(std::bit_cast<double>(bits));
}

}  // namespace warpscope::emulator
