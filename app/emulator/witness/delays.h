#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "emulator/program/module.h"

namespace warpscope::emulator {

/// A wait that is put into a kernel, so that accesses of some threads come late on any device.
struct Delay {
    std::string place;                     ///< of the accesses: users_place()
    std::optional<std::uint32_t> warp{};   ///< its index in its block; nullopt: all warps
    std::optional<std::uint32_t> block{};  ///< its linear index in the grid; nullopt: all blocks
    std::uint32_t clocks = 50'000;         ///< how long they wait before each access: %clock64
};

/// The PTX of the kernel's module with the wait. Every statement stays on its line.
std::string ptx_with(const Delay& delay, const Kernel& kernel);

}  // namespace warpscope::emulator
