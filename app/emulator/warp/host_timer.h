#pragma once

#include <chrono>
#include <cstdint>

namespace warpscope::emulator {

/// Nanoseconds of the host's monotonic clock: %globaltimer.
inline std::uint64_t host_timer() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::uint64_t(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

}  // namespace warpscope::emulator
