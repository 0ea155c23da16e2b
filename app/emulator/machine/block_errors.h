#pragma once

#include <cstdint>
#include <string>

#include "emulator/machine/block_state.h"
#include "emulator/machine/launch_settings.h"

namespace warpscope::emulator {

/// The numbers of warps, a bit each: "0-2, 5".
std::string warp_ranges(std::uint32_t warps);

/// Errors that concern a block as a whole. Each message says where the block's threads are.
[[noreturn]] void fail_deadlock(const BlockState& block);
[[noreturn]] void fail_budget(const BlockState& block, Budget::Verdict verdict,
                              const LaunchSettings& settings);
/// The lanes of `arrived` are at an .aligned barrier without the lanes `missing` of their warp.
[[noreturn]] void fail_divergent_barrier(const BlockState& block, const Warp& warp,
                                         const Split& arrived, std::uint32_t missing);

}  // namespace warpscope::emulator
