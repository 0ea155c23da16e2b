#include <bit>
#include <cstring>

#include "emulator/machine/block.h"

// What an observer is told. Free-running blocks come here never.
namespace warpscope::emulator {

namespace {

// Addresses of T's width. Of all lanes, so that no mask slows the loop; of the mask's first alone
// where the operand is uniform.
template <typename T>
void lane_addresses(const Warp& warp, uint32_t operand, T offset, uint32_t mask,
                    uint64_t* addresses) {
    const auto* values = reinterpret_cast<const T*>(warp.registers + (operand & ~1u));
    if (operand & 1) {
        addresses[std::countr_zero(mask)] = T(values[0] + offset);
        return;
    }
    for (unsigned lane = 0; lane < lanes_per_warp; ++lane)
        addresses[lane] = T(values[lane] + offset);
}

}  // namespace

uint32_t BlockRunner::wanted_by(const Observer& observer) {
    uint32_t wanted = Instruction::shared_access | Instruction::warp_sync;
    if (observer.wants_instructions()) wanted |= Instruction::executes;
    if (observer.wants_global_accesses()) wanted |= Instruction::global_access;
    return wanted;
}

void BlockRunner::observe(const Instruction* i, Warp& warp) {
    uint32_t mask = warp.mask;
    constexpr uint32_t alone = Instruction::uniform_shared | Instruction::shared_access;
    if ((i->events & (wanted_ | Instruction::guards | alone)) == alone && (mask & 1))
        return observe_uniform(i, warp);
    if (i->events & Instruction::guards) {
        const Executed under = under_prefixes(i, warp);
        mask = under.mask;
        if (!mask) return;
        i = &kernel_.code[under.pc];
    }
    const uint32_t events = i->events & wanted_;
    if (events & Instruction::executes)
        observer_->on_instruction(context_.block, warp.index, mask, kernel_.index_of(i));
    if (events & (Instruction::shared_access | Instruction::global_access))
        observe_access(i, warp, mask);
    else if (events & Instruction::warp_sync)
        observe_warp_barrier(i, warp, mask);
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
    const uint32_t operand = i->operands[what.address_operand];
    uint64_t addresses[lanes_per_warp];
    Access access{.block = context_.block,
                  .warp = warp.index,
                  .mask = mask,
                  .lane_addresses = addresses,
                  .bytes = what.bytes,
                  .kind = what.access,
                  .pc = pc,
                  .same_address = (operand & 1) != 0,
                  .state = &warp};
    if (AccessForm(i->target).wide_address)
        lane_addresses<uint64_t>(warp, operand, uint64_t(i->immediate), mask, addresses);
    else
        lane_addresses<uint32_t>(warp, operand, uint32_t(i->immediate), mask, addresses);
    if (what.space == Space::generic)
        observe_generic(access, addresses);
    else if (what.space == Space::shared)
        observer_->on_shared_access(access);
    else
        observer_->on_global_access(access);
}

// A shared access of one address for all lanes, lane 0 among them: what inner loops do.
void BlockRunner::observe_uniform(const Instruction* i, const Warp& warp) {
    const uint32_t pc = kernel_.index_of(i);
    const InstructionInfo& what = kernel_.lines[pc];
    const uint32_t operand = i->operands[what.address_operand];
    const uint64_t address = uint32_t(warp.get<uint32_t>(operand, 0) + uint32_t(i->immediate));
    observer_->on_shared_access({.block = context_.block,
                                 .warp = warp.index,
                                 .mask = warp.mask,
                                 .lane_addresses = &address,
                                 .bytes = what.bytes,
                                 .kind = what.access,
                                 .pc = pc,
                                 .same_address = true,
                                 .state = &warp});
}

// The lanes that are in shared memory, then those in global memory.
void BlockRunner::observe_generic(Access& access, uint64_t* addresses) {
    uint32_t in_shared = 0, in_global = 0;
    for (uint32_t lanes = access.mask; lanes; lanes &= lanes - 1) {
        const auto lane = unsigned(std::countr_zero(lanes));
        const uint64_t address = access.address(lane);
        if (address - shared_window < window_size) {
            in_shared |= 1u << lane;
        } else if (address - local_window >= window_size) {
            in_global |= 1u << lane;
        }
    }
    if (in_global) {
        access.mask = in_global;
        observer_->on_global_access(access);
    }
    if (!in_shared) return;
    access.mask = in_shared;
    const uint32_t given = access.same_address ? in_shared & (0 - in_shared) : in_shared;
    for (uint32_t lanes = given; lanes; lanes &= lanes - 1)
        addresses[std::countr_zero(lanes)] -= shared_window;
    observer_->on_shared_access(access);
}

void BlockRunner::complete_observed_syncs(Warp& warp) {
    for (;;) {
        const std::vector<Split> before = warp.splits;
        if (!warp.complete_warp_sync()) return;
        for (const Split& s : before) {
            if (s.state != Split::at_warp_sync || !(s.mask & warp.mask)) continue;
            if (s.pc->role == Role::warp_barrier)
                observer_->on_warp_sync(context_.block, warp.index, s.members);
            break;
        }
    }
}

void BlockRunner::observe_arrival(const Instruction* i, const Warp& warp, uint32_t mask,
                                  const Barrier& barrier, unsigned id) {
    observer_->on_barrier_arrival({context_.block, warp.index, mask, lanes_that_stay(warp),
                                   kernel_.index_of(i), id, barrier.expected,
                                   BarrierKind(i->detail) != BarrierKind::arrive});
}

void Access::stored(unsigned lane, std::byte* into) const {
    const Instruction& i = state->block->kernel->code[pc];
    const AccessForm form(i.target);
    const unsigned size = bytes / form.elements;
    for (unsigned e = 0; e < form.elements; ++e) {
        const uint32_t operand = i.operands[e + 1];
        const uint64_t value = form.wide_register ? state->get<uint64_t>(operand, lane)
                                                  : state->get<uint32_t>(operand, lane);
        std::memcpy(into + e * size, &value, size);
    }
}

const std::byte* Access::shared_memory() const {
    return state->block->shared;
}

}  // namespace warpscope::emulator
