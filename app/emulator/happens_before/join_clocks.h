#pragma once

#include <cstdint>
#include <span>

namespace warpscope::emulator {

/// Makes each entry of a vector clock the larger one of both clocks, which have one length.
void join_clocks(std::span<std::uint32_t> into, std::span<const std::uint32_t> from);

}  // namespace warpscope::emulator
