#pragma once

#include "emulator/machine/launch_settings.h"
#include "emulator/warp/memory.h"
#include "emulator/warp/print_log.h"

namespace warpscope::emulator {

inline constexpr std::uint64_t most_cooperative_blocks = 4096;

/// Runs all blocks of a launch together, as cudaLaunchCooperativeKernel() does, so that each may
/// wait for all others; or those whose turns are listed (LaunchSettings::together), with the others
/// before or behind them (OtherBlocks). Blocks that run together take turns on one host thread, in
/// the order of their index: in its turn, a block runs one of its warps. Each block has shared
/// memory of its own, zero at first. `observer`, which may be null, has been told of the launch,
/// and `make_events` is that of the LaunchMethod. Adds what the blocks print to `output`, after an
/// error too. Throws Error, also where the blocks are too many or too large.
Statistics run_cooperative(const Kernel& kernel, const FrozenLaunch& launch, Memory& memory,
                           unsigned virtual_sms, Observer* observer, PrintLog& output,
                           const MakeBlockEvents& make_events);

}  // namespace warpscope::emulator
