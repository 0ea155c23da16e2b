#pragma once

#include <cstdint>
#include <vector>

#include "emulator/lower/control_flow.h"
#include "emulator/ptx/ptx_syntax.h"

namespace warpscope::emulator {

// Which registers hold one value for a whole warp, and where lanes that part meet again.
//
// Lanes part at a branch whose predicate differs between lanes and meet at its immediate
// post-dominator. Two kinds of branch have no join: those between whose sides a barrier stands
// (lanes on one side may wait for those on the other) and loops left by what other threads write
// (a lock: who holds it must be able to go on). Behind those, lanes part for good.
//
// A register is uniform when every value written to it is, and no two splits of a warp can want it
// to hold different values:
// - written where only one side of a divergent branch has code: it must be dead at the join;
// - written where both sides have code: it must have one definition only, a pure one.
struct Uniformity {
    std::vector<bool> uniform;        // by register
    std::vector<bool> live_at_entry;  // by register: may be read before it is written
    std::vector<bool> divergent;      // by block: its closing branch may part lanes
    std::vector<std::uint32_t> join;  // by block: where they meet, ControlFlow::no_block for never
};

Uniformity analyse_uniformity(const KernelSyntax& kernel, const ControlFlow& flow);

}  // namespace warpscope::emulator
