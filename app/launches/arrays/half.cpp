#include "launches/arrays/half.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace warpscope::launches {
namespace {

/// The bits of infinity: sign 0, all bits of the exponent 1, the stored digits 0.
template <int Digits>
constexpr unsigned infinity = (0x7fffU >> (Digits - 1)) << (Digits - 1);

}  // namespace

template <int Digits, int Least>
ShortFloat<Digits, Least>::ShortFloat(double value) {
    const unsigned sign = std::signbit(value) ? 0x8000U : 0U;
    const double size = std::fabs(value);
    if (std::isnan(value)) {
        bits_ = 0x7fff;
    } else if (std::isinf(value)) {
        bits_ = std::uint16_t(sign | infinity<Digits>);
    } else {
        const int exponent = std::clamp(size > 0 ? std::ilogb(size) : Least, Least, 1 - Least);
        // If the stored digits carry, one is added to the exponent, up to infinity.
        const double digits = std::nearbyint(std::ldexp(size, Digits - 1 - exponent));
        const double bits = std::ldexp(double(exponent - Least), Digits - 1) + digits;
        bits_ = std::uint16_t(sign | unsigned(std::min(bits, double(infinity<Digits>))));
    }
}

template <int Digits, int Least>
ShortFloat<Digits, Least>::operator double() const {
    const unsigned size = bits_ & 0x7fffU;
    const double sign = (bits_ & 0x8000U) != 0 ? -1 : 1;
    if (size > infinity<Digits>) return std::numeric_limits<double>::quiet_NaN();
    if (size == infinity<Digits>) return sign * std::numeric_limits<double>::infinity();
    const int field = int(size >> (Digits - 1));
    const int first = field > 0 ? 1 << (Digits - 1) : 0;
    const int digits = first + int(size & ((1U << (Digits - 1)) - 1));
    return sign * std::ldexp(double(digits), std::max(field, 1) - 1 + Least - (Digits - 1));
}

template class ShortFloat<11, -14>;
template class ShortFloat<8, -126>;

}  // namespace warpscope::launches
