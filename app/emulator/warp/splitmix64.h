#pragma once

#include <cstdint>

namespace warpscope::emulator {

/// What splitmix64 adds to its state between two numbers.
constexpr std::uint64_t splitmix64_step = 0x9e3779b97f4a7c15;

/// The output of splitmix64 (Steele, Lea & Flood 2014) for a state. Neighbouring states give
/// unrelated numbers. Unlike std::mt19937 with a distribution, it is equal in every library.
constexpr std::uint64_t splitmix64(std::uint64_t state) {
    std::uint64_t x = state + splitmix64_step;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

}  // namespace warpscope::emulator
