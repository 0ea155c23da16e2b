#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "emulator/machine/block.h"
#include "emulator/program/error.h"

// Barriers. From Volta on each thread arrives for itself, and a barrier without a thread count
// waits for every thread of the block that has not exited. Before, a warp arrived as a whole (PTX
// ISA, "bar, barrier": on sm_6x and lower, if any thread of a warp executes the instruction, "it is
// as if all the threads in the warp have", and the count grows by the warp's size).
namespace warpscope::emulator {

namespace {

uint32_t lanes_at(const Warp& warp, const Instruction* i) {
    uint32_t lanes = 0;
    for (const Split& s : warp.splits)
        if (s.pc == i) lanes |= s.mask;
    return lanes;
}

}  // namespace

void BlockRunner::arrive_at_barrier(Warp& warp) {
    Split& split = warp.splits[warp.current];
    const Instruction* i = split.pc;
    Barrier& barrier = barriers_[split.barrier];
    const auto kind = BarrierKind(i->detail);
    const unsigned id = split.barrier;
    const auto lane = unsigned(std::countr_zero(split.mask));
    if (i->operands[1]) {
        barrier.expected = warp.get<uint32_t>(i->operands[1], lane);
        if (barrier.expected == 0 || barrier.expected % lanes_per_warp)
            warp.fail(i, lane,
                      fmt::format("a barrier can't count {} threads, only whole warps",
                                  barrier.expected));
    }
    const auto lanes = uint32_t(std::popcount(split.mask));
    barrier.arrived += lanes;
    barrier.counted += one_counter() ? lanes_per_warp : lanes;
    if (kind >= BarrierKind::popc)
        barrier.ayes += uint32_t(std::popcount(split.mask & warp.predicate(i->operands[3])));
    if (observer_) observe_arrival(i, warp, split.mask, barrier, id);
    if (options_.barriers == BarrierPolicy::strict && i->immediate) check_whole_warp(warp, split);
    if (kind == BarrierKind::arrive) {
        split.state = Split::runnable;
        split.pc = i + 1;
    }
    release_if_complete(id);
}

void BlockRunner::release_if_complete(unsigned id) {
    const Barrier& barrier = barriers_[id];
    if (barrier.arrived == 0) return;
    uint32_t needed = barrier.expected ? barrier.expected : context_.live_threads;
    if (one_counter() && !barrier.expected) {
        needed = 0;
        for (const Warp& warp : warps_) needed += warp.finished() ? 0 : lanes_per_warp;
    }
    if (barrier.counted >= needed) release(id);
}

void BlockRunner::release(unsigned id) {
    for (Warp& warp : warps_) release_warp(warp, id);
    barriers_[id] = {};
    ++statistics_.barriers;
    if (observer_)
        observer_->on_barrier_release({context_.block,
                                       id,
                                       epoch_,
                                       context_.live_threads,
                                       {context_.shared, context_.shared_bytes}});
    ++epoch_;
}

void BlockRunner::release_warp(Warp& warp, unsigned id) {
    const Barrier& barrier = barriers_[id];
    bool released = false;
    for (size_t s = 0; s < warp.splits.size(); ++s) {
        Split& split = warp.splits[s];
        if (split.state != Split::at_barrier || split.barrier != id) continue;
        const Instruction* i = split.pc;
        const auto kind = BarrierKind(i->detail);
        if (kind == BarrierKind::popc)
            for (uint32_t m = split.mask; m; m &= m - 1)
                warp.set(i->operands[2], unsigned(std::countr_zero(m)), barrier.ayes);
        if (kind == BarrierKind::all || kind == BarrierKind::any) {
            const bool holds =
                kind == BarrierKind::all ? barrier.ayes == barrier.arrived : barrier.ayes > 0;
            uint32_t& p = warp.predicate(i->operands[2]);
            p = (p & ~split.mask) | (holds ? split.mask : 0);
        }
        split.state = Split::runnable;
        split.pc = i + 1;
        released = true;
        // With one program counter, who was under way goes on before the warp's other lanes do.
        if (one_counter())
            std::rotate(warp.splits.begin(), warp.splits.begin() + long(s),
                        warp.splits.begin() + long(s) + 1);
    }
    if (!released) return;
    if (warp.splits.size() > 1) warp.merge_splits();
    warp.turns = 0;
    runnable_ |= 1u << warp.index;
}

void BlockRunner::threads_left() {
    for (unsigned id = 0; id < barriers_per_block; ++id) release_if_complete(id);
}

// Under the strict policy. "All threads in the warp must execute the same barrier instruction"
// (.aligned, which bar always is), and "waits for all non-exited threads from its warp": lanes that
// have exited, or do so next, are not missed, nor are lanes just before the same instruction.
void BlockRunner::check_whole_warp(const Warp& warp, const Split& come) const {
    const Instruction* i = come.pc;
    uint32_t missing = lanes_that_stay(warp) & ~come.mask & ~lanes_at(warp, i);
    std::string elsewhere;
    for (const Split& s : warp.splits) {
        const Instruction* next = s.pc;
        while (kernel_.lines[kernel_.index_of(next)].pseudo && next != i) ++next;
        if (s.state == Split::runnable && next == i) missing &= ~s.mask;
        if (s.mask & missing)
            elsewhere += fmt::format("{}{:#010x} {} {}", elsewhere.empty() ? "" : ", ", s.mask,
                                     s.state == Split::at_barrier ? "wait at" : "are at",
                                     kernel_.where(kernel_.index_of(s.pc)));
    }
    if (!missing) return;
    throw Error(fmt::format(
        "kernel {}, {}: block {}: lanes {:#010x} of warp {} come to the barrier without lanes "
        "{:#010x} of their warp ({}); all threads of a warp must come to it together",
        kernel_.name, kernel_.where(kernel_.index_of(i)), block_name(), come.mask, warp.index,
        missing, elsewhere));
}

// Lanes that neither have exited nor do so next.
uint32_t BlockRunner::lanes_that_stay(const Warp& warp) const {
    uint32_t lanes = warp.threads & ~warp.exited;
    for (const Split& s : warp.splits) {
        const Instruction* next = s.pc;
        while (kernel_.lines[kernel_.index_of(next)].pseudo) ++next;
        if (next->role == Role::exit) lanes &= ~s.mask;
    }
    return lanes;
}

}  // namespace warpscope::emulator
