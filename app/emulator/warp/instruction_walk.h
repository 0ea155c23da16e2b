#pragma once

#include "emulator/warp/warp.h"

namespace warpscope::emulator {

/// The next instruction of the PTX text at or after `i`. It skips what the decoder has inserted:
/// joins and prefixes.
inline const Instruction* skip_inserted(const Kernel& kernel, const Instruction* i) {
    while (kernel.lines[kernel.index_of(i)].pseudo) ++i;
    return i;
}

/// Lanes of a warp that have not exited and do not exit with their next instruction.
inline std::uint32_t staying_lanes(const Warp& warp) {
    std::uint32_t lanes = warp.live();
    for (const Split& s : warp.splits)
        if (skip_inserted(*warp.block->kernel, s.pc)->role == Role::exit) lanes &= ~s.mask;
    return lanes;
}

/// An instruction and the lanes for which it executes.
struct GuardedInstruction {
    const Instruction* instruction = nullptr;
    std::uint32_t lanes = 0;
};

/// The instruction behind the prefixes at `i`, which is `i` itself where there are none.
inline GuardedInstruction behind_prefixes(const Instruction* i, const Warp& warp) {
    std::uint32_t lanes = warp.mask;
    for (; is_prefix(i->role); ++i)
        if (i->role == Role::guard)
            lanes &= warp.predicate(i->operands[0]);
        else if (i->role == Role::guard_not)
            lanes &= ~warp.predicate(i->operands[0]);
    return {i, lanes};
}

}  // namespace warpscope::emulator
