#include "emulator/handlers/soft_float.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

namespace warpscope::emulator::soft {
namespace {

__extension__ using Digits = unsigned __int128;

int width_of(Digits d) {
    const auto high = std::uint64_t(d >> 64);
    return high ? 64 + std::bit_width(high) : std::bit_width(std::uint64_t(d));
}

/// d / 2^n, whose last bit is set where digits are lost. It is then rounded as the exact quotient
/// is.
Digits shifted(Digits d, int n) {
    if (n <= 0) return d << -n;
    return n >= 128 ? Digits(d != 0) : d >> n | Digits((d & ((Digits(1) << n) - 1)) != 0);
}

/// A finite number: digits * 2^exponent. A last digit that is set may stand for smaller ones.
struct Number {
    bool negative;
    Digits digits;
    int exponent;

    /// With its first digit at bit 125, so that a sum needs one bit more.
    Number aligned() const {
        const int up = 126 - width_of(digits);
        return {negative, digits << up, exponent - up};
    }
};

template <class F>
struct Format {
    using Bits = std::conditional_t<sizeof(F) == 8, std::uint64_t, std::uint32_t>;
    static constexpr int digits = std::numeric_limits<F>::digits,
                         bias = std::numeric_limits<F>::max_exponent - 1;
    static constexpr int least_exponent = 1 - bias - (digits - 1);  // of a last digit
    static constexpr Bits first = Bits(1) << (digits - 1),
                          infinity = std::bit_cast<Bits>(std::numeric_limits<F>::infinity());
};

template <class F>
Number number_of(F a) {
    using T = Format<F>;
    const auto bits = std::bit_cast<typename T::Bits>(std::abs(a));
    const int exponent = int(bits / T::first);
    return {std::signbit(a), (bits & (T::first - 1)) | (exponent ? T::first : 0),
            std::max(exponent, 1) - 1 + T::least_exponent};
}

/// The digits from 2^exponent on, rounded.
Digits rounded_at(const Number& a, int exponent, Rounding rounding) {
    const Digits quarters = shifted(a.digits, exponent - 2 - a.exponent);
    const Digits whole = quarters >> 2, rest = quarters & 3;
    switch (rounding) {
        case Rounding::zero:
            return whole;
        case Rounding::down:
            return whole + (a.negative && rest);
        case Rounding::up:
            return whole + (!a.negative && rest);
        default:
            return whole + (rest + (whole & 1) > 2);
    }
}

/// What is beyond the largest number stays there, or becomes infinite.
template <class F>
auto overflow(bool negative, Rounding rounding) {
    const bool stays =
        rounding == Rounding::zero || rounding == (negative ? Rounding::up : Rounding::down);
    return typename Format<F>::Bits(Format<F>::infinity - stays);
}

template <class F>
F rounded(const Number& a, Mode mode) {
    using T = Format<F>;
    typename T::Bits bits = 0;
    // A result is subnormal if it would be below the normal ones with all its digits.
    const int free = a.exponent + width_of(a.digits) - T::digits,
              last = std::max(free, T::least_exponent);
    const bool flushed =
        mode.flushes && free < T::least_exponent &&
        (free < T::least_exponent - 1 || rounded_at(a, free, mode.rounding) < 2 * T::first);
    if (!flushed) {
        const Digits digits = rounded_at(a, last, mode.rounding);
        // A first digit, and a carry out of the digits, increment the exponent.
        const bool overflows = last > T::bias - T::digits + 1 ||
                               (last == T::bias - T::digits + 1 && digits >= 2 * T::first);
        bits = overflows ? overflow<F>(a.negative, mode.rounding)
                         : typename T::Bits(last - T::least_exponent) * T::first +
                               typename T::Bits(digits);
    }
    return std::copysign(std::bit_cast<F>(bits), a.negative ? F(-1) : F(1));
}

template <class F>
F zero(bool negative) {
    return negative ? -F(0) : F(0);
}

template <class F>
F fused(F a, F b, F c, Mode mode) {
    if (!std::isfinite(a) || !std::isfinite(b)) return a * b + c;
    if (!std::isfinite(c)) return c + c;
    const Number x = number_of(a), y = number_of(b), z = number_of(c);
    const Number product{x.negative != y.negative, x.digits * y.digits, x.exponent + y.exponent};
    if (product.digits == 0 && c == 0)
        return zero<F>(product.negative == z.negative ? z.negative
                                                      : mode.rounding == Rounding::down);
    if (product.digits == 0) return rounded<F>(z, mode);
    if (c == 0) return rounded<F>(product, mode);
    Number large = product.aligned(), small = z.aligned();
    if (large.exponent < small.exponent ||
        (large.exponent == small.exponent && large.digits < small.digits))
        std::swap(large, small);
    const Digits rest = shifted(small.digits, large.exponent - small.exponent);
    large.digits = large.negative == small.negative ? large.digits + rest : large.digits - rest;
    return large.digits == 0 ? zero<F>(mode.rounding == Rounding::down) : rounded<F>(large, mode);
}

template <class F>
F quotient(F a, F b, Mode mode) {
    if (!std::isfinite(a) || !std::isfinite(b) || a == 0 || b == 0) return a / b;
    const Number x = number_of(a).aligned(), y = number_of(b);
    const Digits lost = x.digits % y.digits != 0;
    return rounded<F>(
        {x.negative != y.negative, x.digits / y.digits | lost, x.exponent - y.exponent}, mode);
}

template <class F>
F root(F a, Mode mode) {
    if (!std::isfinite(a) || a <= 0) return std::sqrt(a);
    Number x = number_of(a).aligned();
    if (x.exponent % 2) x = {false, x.digits >> 1, x.exponent + 1};  // its last digits are zeros
    auto r = Digits(std::sqrt(double(x.digits)));
    r = (r + x.digits / r) / 2;
    while (r * r > x.digits) --r;
    while ((r + 1) * (r + 1) <= x.digits) ++r;
    return rounded<F>({false, r | Digits(r * r != x.digits), x.exponent / 2}, mode);
}

template <class F>
F operand(F a, Mode mode) {
    return mode.flushes && std::abs(a) < std::numeric_limits<F>::min() ? zero<F>(std::signbit(a))
                                                                       : a;
}

}  // namespace

template <class F>
F computed(Operation operation, F a, F b, F c, Mode mode) {
    a = operand(a, mode), b = operand(b, mode), c = operand(c, mode);
    switch (operation) {
        case Operation::fadd:
            return fused(a, F(1), b, mode);
        case Operation::fsub:
            return fused(a, F(1), -b, mode);
        case Operation::fmul:
            return fused(a, b, zero<F>(std::signbit(a) != std::signbit(b)), mode);
        case Operation::fma:
            return fused(a, b, c, mode);
        case Operation::fdiv:
            return quotient(a, b, mode);
        case Operation::frcp:
            return quotient(F(1), a, mode);
        default:
            return root(a, mode);
    }
}
template float computed(Operation, float, float, float, Mode);
template double computed(Operation, double, double, double, Mode);

float narrowed(double a, Mode mode) {
    return std::isfinite(a) && a != 0 ? rounded<float>(number_of(a), mode) : float(a);
}

}  // namespace warpscope::emulator::soft
