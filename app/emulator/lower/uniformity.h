#pragma once

#include <cstdint>
#include <vector>

#include "emulator/lower/control_flow.h"
#include "emulator/program/module.h"
#include "emulator/ptx/ptx_syntax.h"

namespace warpscope::emulator {

/// Which registers hold one value for a whole warp, and where diverged lanes reconverge.
///
/// Lanes diverge at a branch whose predicate differs between them, and reconverge at the branch's
/// immediate post-dominator, its join. Two kinds of branch have no join, and lanes that diverge
/// there stay apart: a branch with a barrier on one of its sides, since lanes on the other side may
/// have to reach it first; and a loop whose end depends on writes of other threads, such as a lock,
/// since the lane that holds the lock must be able to continue. Lanes that leave such a loop one
/// after another are not divergent at the barrier behind it: no condition is around the barrier.
///
/// A register is uniform if every value written to it is uniform, and no two splits of a warp need
/// different values in it at one time:
/// - if it is written where only one side of a divergent branch has code, it is dead at the join;
/// - if it is written where both sides have code, it has one definition, a pure one.
struct Uniformity {
    std::vector<bool> uniform;        ///< indexed by register
    std::vector<bool> live_at_entry;  ///< indexed by register: it may be read before it is written
    std::vector<bool> divergent;      ///< indexed by block: lanes may diverge at its last branch
    std::vector<std::uint32_t> join;  ///< indexed by block: where they reconverge, or no_block
    /// Indexed by statement: a barrier that the lanes of a warp may reach one after another, from a
    /// loop that has no join and with no other barrier between.
    std::vector<bool> gathers;
};

Uniformity analyse_uniformity(const KernelSyntax& kernel, const ControlFlow& flow);

/// What a kernel was decoded from (Kernel::origin), for analyses that look at all of it.
struct KernelOrigin {
    KernelSyntax syntax;
    ControlFlow flow;
    Uniformity uniformity;
    std::vector<std::uint32_t> block_begin;  ///< by basic block: index into Kernel::code
};

/// The statement that an instruction was decoded from; null: the decoder has inserted it, or the
/// statements of the kernel are not those of its syntax.
inline const Statement* statement_at(const Kernel& kernel, std::uint32_t pc) {
    const InstructionInfo& info = kernel.lines[pc];
    const std::vector<Statement>& statements = kernel.origin->syntax.statements;
    const bool has_one =
        !info.pseudo && info.statements > 0 && statements.size() == kernel.statements.size();
    return has_one ? &statements[info.statements - 1] : nullptr;
}

/// Whether an access uses what memory holds: a load, and an atomic, which both reads and writes.
/// But an exchange whose old value nothing uses only writes.
inline bool reads_memory(const Kernel& kernel, std::uint32_t pc) {
    const MemoryAccess access = kernel.lines[pc].access;
    if (access != MemoryAccess::atomic) return access == MemoryAccess::load;
    const Statement* const s = statement_at(kernel, pc);
    return !s || !s->has("exch") || kernel.code[pc].operands[0] != 0;
}

}  // namespace warpscope::emulator
