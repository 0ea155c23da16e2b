#pragma once

#include <cstdint>

namespace warpscope::emulator {

/// The instructions of this CPU that compiled code may use.
enum class InstructionSet : std::uint8_t {
    host,    ///< all that the CPU has
    sse4,    ///< 128-bit vectors, no fused multiply-add (x86-64-v2)
    avx2,    ///< 256-bit vectors (x86-64-v3)
    avx512,  ///< 512-bit vectors (x86-64-v4)
};

}  // namespace warpscope::emulator
