#include "emulator/slice/control_dependence.h"

#include <algorithm>

namespace warpscope::emulator {

ControlDependence::ControlDependence(const KernelSyntax& kernel, const ControlFlow& flow)
    : block_of_(flow.block_of) {
    decided_.resize(flow.blocks.size());
    for (const Statement& s : kernel.statements)
        is_branch_.push_back(s.opcode->kind == OpcodeKind::branches && s.guard >= 0);
    for (std::uint32_t b = 0; b < flow.blocks.size(); ++b) {
        if (flow.blocks[b].successors.size() < 2) continue;
        // Walks from each side of the branch to where the sides meet.
        for (std::uint32_t at : flow.blocks[b].successors)
            for (; at != flow.post_dominator[b] && at != ControlFlow::no_block;
                 at = flow.post_dominator[at])
                decided_[b].push_back(at);
        std::ranges::sort(decided_[b]);
    }
}

bool ControlDependence::decides(std::size_t branch, std::size_t statement) const {
    return is_branch_[branch] &&
           std::ranges::binary_search(decided_[block_of_[branch]], block_of_[statement]);
}

}  // namespace warpscope::emulator
