#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>

#include "emulator/block.h"
#include "emulator/handlers.h"

// What an observer is told. Free-running blocks come here never.
namespace warpscope::emulator {

namespace {

// A guard runs the instruction behind it.
bool is_guard(const Instruction* i) {
    return i->handlers[0] == guard || i->handlers[0] == guard_not;
}

uint32_t guarded_lanes(const Instruction* i, Warp& warp) {
    const uint32_t p = warp.predicate(i->operands[0]);
    return warp.mask & (i->handlers[0] == guard ? p : ~p);
}

}  // namespace

void BlockRunner::choose_watched() {
    observes_instructions_ = observer_->wants_instructions();
    watched_.resize(kernel_.code.size());
    for (uint32_t pc = 0; pc < watched_.size(); ++pc)
        watched_[pc] = is_watched(is_guard(&kernel_.code[pc]) ? pc + 1 : pc);
}

bool BlockRunner::is_watched(uint32_t pc) const {
    const InstructionInfo& info = kernel_.lines[pc];
    if (observes_instructions_ || kernel_.code[pc].handlers[Instruction::full] == warp_barrier)
        return true;
    if (info.access == MemoryAccess::none) return false;
    return info.space == Space::shared || info.space == Space::generic ||
           (info.space == Space::global && observer_->wants_global_accesses());
}

void BlockRunner::observe(const Instruction* i, Warp& warp) {
    uint32_t mask = warp.mask;
    if (is_guard(i)) {
        mask = guarded_lanes(i, warp);
        if (!mask) return;
        ++i;
    } else if (kernel_.lines[kernel_.index_of(i)].pseudo) {
        return;
    }
    const uint32_t pc = kernel_.index_of(i);
    if (observes_instructions_) observer_->on_instruction(context_.block, warp.index, mask, pc);
    if (kernel_.lines[pc].access != MemoryAccess::none) {
        observe_access(i, warp, mask);
    } else if (i->handlers[Instruction::full] == warp_barrier) {
        observe_warp_barrier(i, warp, mask);
    }
}

// Lanes may name different members. Where some are still to come: see complete_observed_syncs.
void BlockRunner::observe_warp_barrier(const Instruction* i, const Warp& warp, uint32_t mask) {
    for (uint32_t left = mask; left;) {
        const auto members = warp.get<uint32_t>(i->operands[0], unsigned(std::countr_zero(left)));
        if ((members & ~warp.exited & ~mask) == 0)
            observer_->on_warp_sync(context_.block, warp.index, members);
        left &= ~(members | (left & (0 - left)));
    }
}

void BlockRunner::observe_access(const Instruction* i, const Warp& warp, uint32_t mask) {
    const uint32_t pc = kernel_.index_of(i);
    const InstructionInfo& what = kernel_.lines[pc];
    const bool narrow = !(i->target >> 9 & 1);
    const uint32_t operand = i->operands[what.address_operand];
    const bool same = operand & 1;
    uint64_t shared[lanes_per_warp], global[lanes_per_warp];
    uint32_t in_shared = 0, in_global = 0;
    for (uint32_t lanes = mask; lanes; lanes &= lanes - 1) {
        const auto lane = unsigned(std::countr_zero(lanes));
        const uint64_t address =
            narrow ? uint32_t(warp.get<uint32_t>(operand, lane) + uint32_t(i->immediate))
                   : warp.get<uint64_t>(operand, lane) + uint64_t(i->immediate);
        const bool window = what.space == Space::generic && address - shared_window < window_size;
        if (what.space == Space::shared || window) {
            shared[lane] = window ? address - shared_window : address;
            in_shared |= 1u << lane;
            if (!same) continue;
            in_shared = mask;
        } else if (what.space == Space::global ||
                   (what.space == Space::generic && address - local_window >= window_size)) {
            global[lane] = address;
            in_global |= 1u << lane;
            if (!same) continue;
            in_global = mask;
        }
        if (same) break;
    }
    Access access{.block = context_.block,
                  .warp = warp.index,
                  .mask = in_shared,
                  .lane_addresses = shared,
                  .bytes = what.bytes,
                  .kind = what.access,
                  .pc = pc,
                  .same_address = same,
                  .state = &warp};
    if (in_shared) observer_->on_shared_access(access);
    access.mask = in_global;
    access.lane_addresses = global;
    if (in_global) observer_->on_global_access(access);
}

void BlockRunner::complete_observed_syncs(Warp& warp) {
    for (;;) {
        const std::vector<Split> before = warp.splits;
        if (!warp.complete_warp_sync()) return;
        for (const Split& s : before) {
            if (s.state != Split::at_warp_sync || !(s.mask & warp.mask)) continue;
            if (s.pc->handlers[Instruction::full] == warp_barrier)
                observer_->on_warp_sync(context_.block, warp.index, s.members);
            break;
        }
    }
}

void BlockRunner::observe_arrival(const Instruction* i, const Warp& warp, uint32_t mask,
                                  const Barrier& barrier, unsigned id) {
    uint32_t live = warp.threads & ~warp.exited;
    for (const Split& s : warp.splits) {
        const Instruction* next = s.pc;
        while (kernel_.lines[kernel_.index_of(next)].pseudo && !is_guard(next)) ++next;
        if (next->handlers[Instruction::full] == exit_threads) live &= ~s.mask;
    }
    observer_->on_barrier_arrival({context_.block, warp.index, mask, live, kernel_.index_of(i), id,
                                   barrier.expected,
                                   BarrierKind(i->detail) != BarrierKind::arrive});
}

void Access::stored(unsigned lane, std::byte* into) const {
    const Instruction& i = state->block->kernel->code[pc];
    const unsigned elements = i.target >> 5 & 7;
    const unsigned size = bytes / elements;
    for (unsigned e = 0; e < elements; ++e) {
        const uint32_t operand = i.operands[e + 1];
        const uint64_t value = i.target >> 10 & 1 ? state->get<uint64_t>(operand, lane)
                                                  : state->get<uint32_t>(operand, lane);
        std::memcpy(into + e * size, &value, size);
    }
}

const std::byte* Access::shared_memory() const {
    return state->block->shared;
}

}  // namespace warpscope::emulator
