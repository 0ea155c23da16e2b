#include "emulator/decode/kernel_state.h"
#include "emulator/ptx/opcodes.h"

// The last passes, which need all instructions and slots.
namespace warpscope::emulator {

void resolve_branches(KernelState& state) {
    for (const BranchFixup& f : state.fixups) {
        Instruction& i = state.kernel->code[f.instruction];
        i.target = state.block_begin[f.target_block] - f.instruction;
        i.operands[1] = f.join_block == ControlFlow::no_block
                            ? 0
                            : state.block_begin[f.join_block] - f.instruction;
    }
}

void finish_operands(KernelState& state) {
    Kernel& kernel = *state.kernel;
    for (Instruction& i : kernel.code)
        // Operand 1 of a branch is no slot: it is the distance to its join.
        for (unsigned k = 0; k < (is_branch(i.role) ? 1 : 6); ++k)
            i.operands[k] = state.slots.final_operand(i.operands[k]);
    for (std::uint32_t& operand : kernel.further_operands)
        operand = state.slots.final_operand(operand);
    for (RegisterInfo& r : kernel.registers) r.slot = state.slots.final_operand(r.slot);
    for (RegisterInfo& r : kernel.cleared) r.slot = state.slots.final_operand(r.slot);
    state.slots.finish(kernel);
}

namespace {

std::uint8_t events_of(const Instruction& i, const InstructionInfo& info) {
    if (info.pseudo) return 0;
    // Asynchronous copies tell their accesses themselves.
    const bool accesses = info.access != MemoryAccess::none && !reduces_by_copy(i.operation);
    const bool generic = info.space == Space::generic;
    std::uint8_t events = Instruction::executes;
    const bool shared = info.space == Space::shared || info.space == Space::cluster;
    if (accesses && (generic || shared)) events |= Instruction::shared_access;
    if (accesses && (generic || info.space == Space::global)) events |= Instruction::global_access;
    if (!accesses && info.order != MemoryOrder::weak) events |= Instruction::fences;
    if (i.role == Role::warp_barrier) events |= Instruction::warp_sync;
    const AccessForm form(i.target);
    if (accesses && info.space == Space::shared && !form.wide_address && !form.matrices &&
        is_uniform(i.operands[info.address_operand]))
        events |= Instruction::uniform_shared;
    return events;
}

}  // namespace

void mark_events(KernelState& state) {
    Kernel& kernel = *state.kernel;
    for (std::size_t k = 0; k < kernel.code.size(); ++k)
        kernel.code[k].events = events_of(kernel.code[k], kernel.lines[k]);
    for (std::size_t k = kernel.code.size(); k-- > 1;) {
        Instruction& i = kernel.code[k - 1];
        if (is_prefix(i.role)) i.events = std::uint8_t(kernel.code[k].events | Instruction::guards);
    }
}

}  // namespace warpscope::emulator
