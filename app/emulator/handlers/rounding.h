#pragma once

#include <cstdint>

namespace warpscope::emulator {

/// The rounding modifiers of PTX: .rn, .rz, .rm and .rp.
enum class Rounding : std::uint8_t { none, nearest, zero, down, up };

}  // namespace warpscope::emulator
