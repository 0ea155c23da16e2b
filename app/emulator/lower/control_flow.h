#pragma once

#include <cstdint>
#include <vector>

#include "emulator/ptx/ptx_syntax.h"

namespace warpscope::emulator {

struct BasicBlock {
    std::uint32_t first = 0, end = 0;  ///< statements [first, end)
    std::vector<std::uint32_t> successors, predecessors;
    bool reachable = false;
};

/// The basic blocks of a kernel and their immediate post-dominators. The immediate post-dominator
/// of a block is the first block that every path from it to the end of the kernel goes through.
struct ControlFlow {
    static constexpr std::uint32_t no_block = ~0u;  ///< the end of the kernel

    std::vector<BasicBlock> blocks;
    std::vector<std::uint32_t> block_of;  ///< indexed by statement
    std::vector<std::uint32_t>
        post_dominator;  ///< indexed by block; no_block if paths meet only at the end

    /// Returns the blocks that can be reached from `from` without going through `stop`.
    std::vector<bool> region(std::uint32_t from, std::uint32_t stop) const;
};

/// Puts branches around guarded statements that end threads (@p ret) or wait for other threads
/// (@p bar.sync), and ends the kernel with a ret. All control flow is then in branches.
void lower_control(KernelSyntax& kernel);

/// Throws Error for a branch to a label that does not exist.
ControlFlow build_control_flow(const KernelSyntax& kernel);

/// Adds `from` to `into`, sets of one size. Returns whether that changed `into`.
bool merge(std::vector<bool>& into, const std::vector<bool>& from);

/// Index of the statement that a branch jumps to.
std::uint32_t branch_target(const KernelSyntax& kernel, const Statement& branch);

}  // namespace warpscope::emulator
