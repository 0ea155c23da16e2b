#pragma once

#include <cstdint>
#include <vector>

#include "emulator/ptx/ptx_syntax.h"

namespace warpscope::emulator {

struct BasicBlock {
    std::uint32_t first = 0, end = 0;  // statements [first, end)
    std::vector<std::uint32_t> successors, predecessors;
    bool reachable = false;
};

// Basic blocks of a kernel and the immediate post-dominator of each: the first block that every
// path from it to the kernel's end goes through.
struct ControlFlow {
    static constexpr std::uint32_t no_block = ~0u;  // the kernel's end

    std::vector<BasicBlock> blocks;
    std::vector<std::uint32_t> block_of;  // by statement
    std::vector<std::uint32_t>
        post_dominator;  // by block; no_block where the paths only meet at the end

    // Blocks that can be reached from `from` without going through `stop`.
    std::vector<bool> region(std::uint32_t from, std::uint32_t stop) const;
};

// Rewrites guarded statements that are control flow themselves (@p ret) or wait for other threads
// (@p bar.sync) as a branch around them, and ends the kernel with a ret: all control flow is then
// in branches.
void lower_control(KernelSyntax& kernel);

// Throws Error for a branch to a label that does not exist.
ControlFlow build_control_flow(const KernelSyntax& kernel);

// Index of the statement that a branch jumps to.
std::uint32_t branch_target(const KernelSyntax& kernel, const Statement& branch);

}  // namespace warpscope::emulator
