#pragma once

#include <cfenv>
#include <cmath>
#include <string_view>

namespace warpscope::tests {

/// The host's mode for the PTX modifiers rn, rz, rm, rp (and rni, rzi, rmi, rpi).
inline int host_rounding(std::string_view modifier) {
    switch (modifier[1]) {
        case 'z':
            return FE_TOWARDZERO;
        case 'm':
            return FE_DOWNWARD;
        case 'p':
            return FE_UPWARD;
        default:
            return FE_TONEAREST;
    }
}

/// Rounds everything in its scope another way; operands and results there must be volatile.
class RoundingScope {
  public:
    explicit RoundingScope(std::string_view modifier) { std::fesetround(host_rounding(modifier)); }
    RoundingScope(const RoundingScope&) = delete;
    RoundingScope& operator=(const RoundingScope&) = delete;
    ~RoundingScope() { std::fesetround(FE_TONEAREST); }
};

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
