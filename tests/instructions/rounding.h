#pragma once

#include <cmath>
#include <limits>
#include <string_view>

#include "instructions/bfloat_reference.h"

namespace warpscope::tests {

/// Has twice the digits of a double and more: no product of two is rounded.
#ifdef __SIZEOF_FLOAT128__
__extension__ using Exact = __float128;
#else
using Exact = long double;
#endif

/// What a product and a sum are compared with in the place of an infinite result.
template <class T>
Exact finite(T value) {
    constexpr Exact most = std::numeric_limits<double>::max();
    return std::isinf(value) ? (value > 0 ? most : -most) * most * most : Exact(value);
}

/// Rounds in the direction of a PTX modifier (rn, rz, rm, rp) what the host has rounded to the
/// nearest value; `beyond` is the sign of what the exact one is larger by.
template <class T>
T redirected(std::string_view modifier, T nearest, int beyond) {
    const T infinity = std::numeric_limits<T>::infinity();
    const bool zero = modifier == "rz", negative = std::signbit(nearest);
    if (beyond < 0 && (modifier == "rm" || (zero && !negative)))
        return std::nextafter(nearest, -infinity);
    if (beyond > 0 && (modifier == "rp" || (zero && negative)))
        return std::nextafter(nearest, infinity);
    return nearest;
}

/// `nearest` is a + b, rounded.
template <class T>
T directed_sum(std::string_view modifier, T nearest, Exact a, Exact b) {
    if (modifier == "rm" && a + b == 0 && (1 / a < 0) != (1 / b < 0)) return -T(0);
    return redirected(modifier, nearest, sign_of_sum(a, b, -finite(nearest)));
}

template <class T>
T directed_fma(std::string_view modifier, T a, T b, T c) {
    return directed_sum(modifier, std::fma(a, b, c), Exact(a) * b, Exact(c));
}

template <class T>
T directed_add(std::string_view modifier, T a, T b, T) {
    return directed_sum(modifier, a + b, Exact(a), Exact(b));
}

template <class T>
T directed_subtract(std::string_view modifier, T a, T b, T) {
    return directed_sum(modifier, a - b, Exact(a), -Exact(b));
}

template <class T>
T directed_multiply(std::string_view modifier, T a, T b, T) {
    return directed_sum(modifier, a * b, Exact(a) * b, Exact(std::copysign(T(0), a * b)));
}

template <class T>
T directed_quotient(std::string_view modifier, T a, T b) {
    const Exact product = finite(a / b) * b;
    const int beyond = (a > product) - (a < product);
    return redirected(modifier, a / b, std::signbit(b) ? -beyond : beyond);
}

template <class T>
T directed_root(std::string_view modifier, T a) {
    const T root = std::sqrt(a);
    const Exact square = finite(root) * finite(root);
    return redirected(modifier, root, (a > square) - (a < square));
}

/// The nearest integer in the direction of rni (ties to even), rzi, rmi or rpi.
inline double to_integral(std::string_view modifier, double x) {
    switch (modifier[1]) {
        case 'z':
            return std::trunc(x);
        case 'm':
            return std::floor(x);
        case 'p':
            return std::ceil(x);
        default:
            return std::nearbyint(x);
    }
}

}  // namespace warpscope::tests
