#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "emulator/handlers/half.h"
#include "emulator/handlers/handlers.h"

/// How tensor cores multiply matrices: their elements, and how sums of products are rounded.
namespace warpscope::emulator::matrix_model {

constexpr unsigned columns = 8, most_rows = 16, most_products = 32;

// Elements of a and b: the bits that registers hold, and their values.
struct Half16 {
    using Bits = std::uint16_t;
    using Value = double;
    static double value(Bits bits) {
        const std::uint32_t digits = bits & 0x7FFFu;
        const float magnitude = digits < 0x400 ? float(digits) * 0x1p-24f
                                : digits < 0x7C00
                                    ? std::bit_cast<float>((digits << 13) + (112u << 23))
                                    : std::bit_cast<float>((digits << 13) | 0x7F800000u);
        return bits & 0x8000 ? -magnitude : magnitude;
    }
};
struct Bfloat16 {
    using Bits = std::uint16_t;
    using Value = double;
    static double value(Bits bits) { return std::bit_cast<float>(std::uint32_t(bits) << 16); }
};
struct Tf32 {
    using Bits = std::uint32_t;
    using Value = double;
    static double value(Bits bits) { return std::bit_cast<float>(bits & 0xFFFFE000u); }
};
struct Double {
    using Bits = std::uint64_t;
    using Value = double;
    static double value(Bits bits) { return std::bit_cast<double>(bits); }
};
template <class T>
struct Byte {
    using Bits = std::uint8_t;
    using Value = std::int32_t;
    static std::int32_t value(Bits bits) { return T(bits); }
};

template <class Value>
struct Tiles {
    Value a[most_rows][most_products];
    Value b[most_products][columns];
};

/// A register that holds elements.
template <class Bits>
using RegisterOf = std::conditional_t<sizeof(Bits) == 8, std::uint64_t, std::uint32_t>;
template <class Bits>
constexpr unsigned elements_in_register = sizeof(RegisterOf<Bits>) / sizeof(Bits);

/// Calls f(lane, register, element, bits) for the elements of a fragment, which lie in `registers`
/// registers of each lane.
template <class Bits, class F>
void for_elements(const Warp& w, const std::uint32_t* operands, unsigned registers, F f) {
    using Register = RegisterOf<Bits>;
    for (unsigned r = 0; r < registers; ++r) {
        const std::byte* from = w.registers + slot_offset(operands[r]);
        const std::size_t step = is_uniform(operands[r]) ? 0 : sizeof(Register);
        for (unsigned lane = 0; lane < lanes_per_warp; ++lane, from += step) {
            Register held;
            std::memcpy(&held, from, sizeof(held));
            for (unsigned e = 0; e < elements_in_register<Bits>; ++e)
                f(lane, r, e, Bits(held >> 8 * sizeof(Bits) * e));
        }
    }
}

/// The part of a double that a float holds; the rest is cut off.
inline float cut(double value) {
    const auto near = float(value);
    const bool is_farther = std::abs(double(near)) > std::abs(value) && !std::isinf(near);
    return is_farther ? std::bit_cast<float>(std::bit_cast<std::uint32_t>(near) - 1) : near;
}

// The exponent of a value, as tensor cores compare them. What is no finite number has one above
// those of all others, even when zero's is added to it.
constexpr std::int16_t zero_exponent = -4096, special_exponent = 12288, least_special_sum = 8192;

inline std::int16_t exponent_of(double value) {
    const auto field = int(std::bit_cast<std::uint64_t>(value) >> 52 & 2047);
    return std::int16_t(field == 0      ? zero_exponent
                        : field == 2047 ? special_exponent
                                        : field - 1023);
}

struct FloatTiles : Tiles<double> {
    std::int16_t a_exponents[most_rows][most_products], b_exponents[most_products][columns];

    void find_exponents(ProductShape shape) {
        for (unsigned row = 0; row < shape.m; ++row)
            for (unsigned k = 0; k < shape.k; ++k) a_exponents[row][k] = exponent_of(a[row][k]);
        for (unsigned k = 0; k < shape.k; ++k)
            for (unsigned n = 0; n < columns; ++n) b_exponents[k][n] = exponent_of(b[k][n]);
    }
};

/// A sum of special values, by IEEE 754.
inline double special_sum(const double* a, const double (*b)[columns], unsigned n, unsigned count,
                          double c) {
    for (unsigned k = 0; k < count; ++k) c += a[k] * b[k][n];
    return c;
}

/// One row of sums, as the tensor cores of an H100 compute them: the products are exact; they and c
/// are cut off at one place, 25 bits behind the largest exponent, where that of a product is the
/// sum of its factors' exponents; what is left is added exactly. See docs/emulator.md.
template <unsigned count>
void add_products(const FloatTiles& tiles, unsigned row, const double* c, double* sums) {
    constexpr int kept_bits = 25, least_exponent = -500;
    const double* const a = tiles.a[row];
    std::int16_t largest[columns];
    for (unsigned n = 0; n < columns; ++n) largest[n] = exponent_of(c[n]);
    for (unsigned k = 0; k < count; ++k)
        for (unsigned n = 0; n < columns; ++n) {
            const auto exponent = std::int16_t(tiles.a_exponents[row][k] + tiles.b_exponents[k][n]);
            largest[n] = exponent > largest[n] ? exponent : largest[n];
        }
    double scales[columns], places[columns];
    for (unsigned n = 0; n < columns; ++n) {
        const bool special = largest[n] >= least_special_sum;
        const int last = std::max(int(largest[n]), least_exponent) - kept_bits;
        places[n] = special ? 0 : std::bit_cast<double>(std::uint64_t(1023 + last) << 52);
        scales[n] = special ? 0 : std::bit_cast<double>(std::uint64_t(1023 - last) << 52);
    }
    double units[columns];  // whole numbers: sixteen products of the largest halves need 33 bits
    for (unsigned n = 0; n < columns; ++n) units[n] = std::int32_t(c[n] * scales[n]);
    for (unsigned k = 0; k < count; ++k)
        for (unsigned n = 0; n < columns; ++n)
            units[n] += std::int32_t(a[k] * tiles.b[k][n] * scales[n]);
    for (unsigned n = 0; n < columns; ++n)
        sums[n] = largest[n] >= least_special_sum ? special_sum(a, tiles.b, n, count, c[n])
                                                  : units[n] * places[n];
}

// Elements of c and d.
struct Single {
    using Bits = std::uint32_t;
    static double value(Bits bits) { return std::bit_cast<float>(bits); }
    static Bits bits(double sum) {
        return std::isnan(sum) ? 0x7FFFFFFFu : std::bit_cast<std::uint32_t>(cut(sum));
    }
};
struct HalfSum {
    using Bits = std::uint16_t;
    static double value(Bits bits) { return Half{bits}; }
    static Bits bits(double sum) { return Half::of(sum).bits; }
};

}  // namespace warpscope::emulator::matrix_model
