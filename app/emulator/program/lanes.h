#pragma once

#include <bit>
#include <cstdint>

namespace warpscope::emulator {

inline constexpr unsigned lanes_per_warp = 32;

/// The lowest lane of a mask that is not 0.
inline unsigned first_lane(std::uint32_t mask) {
    return unsigned(std::countr_zero(mask));
}

/// Calls f(lane) for each lane of a mask, from the lowest one on.
template <typename F>
void for_each_lane(std::uint32_t mask, F&& f) {
    for (; mask; mask &= mask - 1) f(first_lane(mask));
}

}  // namespace warpscope::emulator
