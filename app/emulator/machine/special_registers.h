#pragma once

#include "emulator/machine/block_state.h"

namespace warpscope::emulator {

/// Sets the special registers that keep their values from block to block: %tid, %ntid, %laneid, …
void set_launch_registers(BlockState& state);
/// Sets the special registers of the block in state.context: %ctaid, %smid, %nsmid.
void set_block_registers(BlockState& state, std::uint32_t sm_count);

}  // namespace warpscope::emulator
