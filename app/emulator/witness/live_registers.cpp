#include "emulator/witness/live_registers.h"

#include <algorithm>

#include "emulator/lower/control_flow.h"
#include "emulator/lower/kernel_origin.h"
#include "emulator/ptx/effects.h"
#include "emulator/warp/instruction_walk.h"

namespace warpscope::emulator {

namespace {

using Bits = std::vector<bool>;

void step_back_over(const Statement& statement, Bits& live) {
    for (const std::int32_t r : destinations_of(statement)) live[std::size_t(r)] = false;
    for (const std::int32_t r : sources_of(statement)) live[std::size_t(r)] = true;
}

LiveRegisters::Piece piece_of(const RegisterInfo& info) {
    const std::uint32_t lane_bytes = info.bits == 64 ? 8 : 4;
    const bool is_one = info.bits == 1 || is_uniform(info.slot);
    return {slot_offset(info.slot), is_one ? 8 : lanes_per_warp * lane_bytes};
}

}  // namespace

LiveRegisters::LiveRegisters(const Kernel& kernel) : kernel_(kernel) {
    const KernelSyntax& syntax = kernel.origin->syntax;
    const std::vector<BasicBlock>& blocks = kernel.origin->flow.blocks;
    const std::size_t registers = syntax.registers.size();
    // The registers that are used have places, in their order.
    Bits used(registers);
    for (const Statement& statement : syntax.statements)
        for (const auto& list : {destinations_of(statement), sources_of(statement)})
            for (const std::int32_t r : list) used[std::size_t(r)] = true;
    std::vector<Piece> places(registers);
    auto next = kernel.registers.begin();
    for (std::size_t r = 0; r < registers && next != kernel.registers.end(); ++r)
        if (used[r]) places[r] = piece_of(*next++);

    std::vector<Bits> live_in(blocks.size(), Bits(registers));
    const auto live_behind = [&](const BasicBlock& block) {
        Bits live(registers);
        for (const std::uint32_t s : block.successors) merge(live, live_in[s]);
        return live;
    };
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t b = blocks.size(); b-- > 0;) {
            Bits live = live_behind(blocks[b]);
            for (std::uint32_t i = blocks[b].end; i-- > blocks[b].first;)
                step_back_over(syntax.statements[i], live);
            changed |= merge(live_in[b], live);
        }
    }
    pieces_.resize(syntax.statements.size());
    for (const BasicBlock& block : blocks) {
        Bits live = live_behind(block);
        for (std::uint32_t i = block.end; i-- > block.first;) {
            step_back_over(syntax.statements[i], live);
            for (std::size_t r = 0; r < registers; ++r)
                if (live[r]) pieces_[i].push_back(places[r]);
        }
    }
}

const std::vector<LiveRegisters::Piece>& LiveRegisters::at(const Instruction* pc) const {
    const std::uint32_t index = kernel_.index_of(skip_inserted(kernel_, pc));
    return pieces_[kernel_.lines[index].statements - 1];
}

}  // namespace warpscope::emulator
