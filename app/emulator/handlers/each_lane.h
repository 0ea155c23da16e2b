#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "emulator/handlers/handlers.h"

namespace warpscope::emulator {

template <typename F, typename R, typename... A, std::size_t... k>
inline const Instruction* run_each_lane(const Instruction* i, Warp& w, std::index_sequence<k...>) {
    const unsigned count = is_uniform(i->operands[0]) ? 1 : lanes_per_warp;
    for (unsigned lane = 0; lane < count; ++lane)
        w.set<R>(i->operands[0], lane, R(F{}(w.get<A>(i->operands[k + 1], lane)...)));
    return i + 1;
}

/// A handler that applies F to every lane: operand 0 = F{}(operand 1, …), with these types.
template <typename F, typename R, typename... A>
const Instruction* each_lane(const Instruction* i, Warp& w) {
    return run_each_lane<F, R, A...>(i, w, std::index_sequence_for<A...>{});
}

/// Numbers as values of meanings.inc, which explains these functions.
namespace lane {

template <typename T>
using BitsOf = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <typename T, typename N>
T splat(T, N number) {
    return T(number);
}
template <typename T>
T select(bool condition, T a, T b) {
    return condition ? a : b;
}
template <typename T>
T select(bool condition, T a) {
    return condition ? a : T(0);
}
inline bool both(bool a, bool b) {
    return a && b;
}
inline bool either(bool a, bool b) {
    return a || b;
}
template <typename T>
bool is_nan(T a) {
    return std::isnan(a);
}
template <typename T>
T least(T a, T b) {
    return a < b ? a : b;
}
template <typename T>
T greatest(T a, T b) {
    return a > b ? a : b;
}
template <typename T>
auto magnitude(T a) {
    if constexpr (std::is_floating_point_v<T>)
        return std::abs(a);
    else
        return a < 0 ? std::make_unsigned_t<T>(0 - std::make_unsigned_t<T>(a))
                     : std::make_unsigned_t<T>(a);
}

template <std::floating_point T>
BitsOf<T> as_bits(T a) {
    return std::bit_cast<BitsOf<T>>(a);
}
inline float as_float(std::uint32_t bits) {
    return std::bit_cast<float>(bits);
}
inline double as_float(std::uint64_t bits) {
    return std::bit_cast<double>(bits);
}
template <typename T>
BitsOf<T> sign_bit(T) {
    return BitsOf<T>(1) << (8 * sizeof(T) - 1);
}
template <std::integral T>
T bit_and(T a, T b) {
    return T(a & b);
}
template <std::integral T>
T bit_or(T a, T b) {
    return T(a | b);
}
template <std::integral T>
T bit_xor(T a, T b) {
    return T(a ^ b);
}
template <std::integral T>
T bit_not(T a) {
    return T(~a);
}
template <std::floating_point T>
T bit_and(T a, T b) {
    return as_float(as_bits(a) & as_bits(b));
}
template <std::floating_point T>
T bit_or(T a, T b) {
    return as_float(as_bits(a) | as_bits(b));
}

template <typename T>
constexpr unsigned width_of(T) {
    return 8 * sizeof(T);
}
template <typename T>
constexpr bool holds_sign(T) {
    return std::is_signed_v<T>;
}
template <typename T>
std::uint32_t with_width_of(T, std::uint32_t amount) {
    return amount;
}
template <typename T>
T shift_left(T a, std::uint32_t amount) {
    return T(std::make_unsigned_t<T>(a) << amount);
}
template <typename T>
T shift_right(T a, std::uint32_t amount) {
    return T(a >> amount);
}

template <typename T>
auto product(T a, T b) {
    return T(std::uint64_t(a) * b);
}
template <typename T>
auto wide_product(T a, T b) {
    using U = std::make_unsigned_t<T>;
    if constexpr (sizeof(T) == 8) {
        __extension__ using Wide =
            std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
        __extension__ using UnsignedWide = unsigned __int128;
        return UnsignedWide(Wide(a) * Wide(b));
    } else {
        using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
        using Result = std::conditional_t<sizeof(U) == 2, std::uint32_t, std::uint64_t>;
        return Result(Wide(a) * Wide(b));
    }
}
/// The upper half of a product of numbers of type T.
template <typename Wide, typename T>
auto upper_half(Wide product, T) {
    return std::make_unsigned_t<T>(product >> 8 * sizeof(T));
}
template <typename T>
T fused(T a, T b, T c) {
    return std::fma(a, b, c);
}
template <typename T>
T root(T a) {
    return std::sqrt(a);
}
inline double reciprocal_root(double a) {
    return 1 / std::sqrt(a);
}
/// Doubles keep their subnormals: instructions of f64 run without the flush mode.
inline double flushed_by_mode(double a) {
    return a;
}

#include "emulator/handlers/meanings.inc"

}  // namespace lane

}  // namespace warpscope::emulator
