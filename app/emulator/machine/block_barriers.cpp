#include "emulator/machine/block_barriers.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "emulator/machine/block_errors.h"
#include "emulator/program/error.h"
#include "emulator/warp/warp.h"

namespace warpscope::emulator {

namespace {

bool has_split(const Warp& warp, Split::State state) {
    return std::any_of(warp.splits.begin(), warp.splits.end(),
                       [&](const Split& s) { return s.state == state; });
}

}  // namespace

void BlockBarriers::arrive_in_general(Warp& warp, BlockEvents* events) {
    Split& split = warp.splits[warp.current];
    const Instruction* i = split.pc;
    const unsigned id = split.barrier;
    BarrierState& barrier = block_.barriers[id];
    const auto kind = BarrierKind(i->detail);
    if (i->operands[1]) barrier.expected = expected_threads(i, warp, split);
    const std::uint32_t lanes = lane_count(split.mask);
    add_arrivals(id, lanes, has_one_program_counter(policy_) ? lanes_per_warp : lanes);
    if (kind >= BarrierKind::popc)
        barrier.holding += lane_count(split.mask & warp.predicate(i->operands[3]));
    if (events) events->barrier_arrival(i, warp, split.mask, id, barrier.expected);
    if (policy_ == BarrierPolicy::strict && i->immediate) require_whole_warp(warp, split);
    if (kind == BarrierKind::arrive) {
        split.state = Split::runnable;
        split.pc = i + 1;
    }
    release_if_complete(id, events);
}

// Lanes that come to a barrier one after another wait for those that still run: "All threads in the
// warp must execute the same barrier instruction" (PTX ISA, "bar, barrier").
bool BlockBarriers::gathers(const Warp& warp, const Split& split) const {
    const Kernel& kernel = *block_.context.kernel;
    return warp.splits.size() > 1 && kernel.lines[kernel.index_of(split.pc)].gathers;
}

void BlockBarriers::arrive_gathered(Warp& warp, BlockEvents* events) {
    if (has_split(warp, Split::runnable)) return;
    for (Split& s : warp.splits)
        if (s.state == Split::gathering) s.state = Split::runnable;
    warp.merge_splits();
    for (Split& s : warp.splits)
        if (s.state == Split::runnable) s.state = Split::gathering;
    while (has_split(warp, Split::gathering) && !has_split(warp, Split::runnable)) {
        std::uint32_t next = 0;
        while (warp.splits[next].state != Split::gathering) ++next;
        warp.splits[next].state = Split::at_barrier;
        warp.enter(next);
        arrive_in_general(warp, events);
    }
}

// The thread count that a barrier instruction states.
std::uint32_t BlockBarriers::expected_threads(const Instruction* i, const Warp& warp,
                                              const Split& split) {
    const auto lane = unsigned(std::countr_zero(split.mask));
    const auto threads = warp.get<std::uint32_t>(i->operands[1], lane);
    if (threads == 0 || threads % lanes_per_warp)
        warp.fail(i, lane,
                  fmt::format("the barrier's thread count is {}, but it must be a multiple of the "
                              "warp size, {}",
                              threads, lanes_per_warp));
    return threads;
}

void BlockBarriers::threads_exited(BlockEvents* events) {
    for (std::uint32_t ids = block_.awaited; ids; ids &= ids - 1)
        release_if_complete(unsigned(std::countr_zero(ids)), events);
}

void BlockBarriers::release_if_complete(unsigned id, BlockEvents* events) {
    const BarrierState& barrier = block_.barriers[id];
    std::uint32_t needed = barrier.expected ? barrier.expected : block_.context.live_threads;
    if (has_one_program_counter(policy_) && !barrier.expected) {
        needed = 0;
        for (const Warp& warp : block_.warps) needed += warp.finished() ? 0 : lanes_per_warp;
    }
    if (barrier.counted >= needed) release(id, events);
}

void BlockBarriers::release(unsigned id, BlockEvents* events) {
    for (Warp& warp : block_.warps) {
        if (warp.splits.size() != 1) {
            release_splits(warp, id);
            continue;
        }
        Split& split = warp.splits[0];
        if (split.state == Split::at_barrier && split.barrier == id) release_split(warp, split);
    }
    block_.barriers[id] = {};
    block_.awaited &= ~(1u << id);
    ++block_.statistics.barriers;
    if (events) events->barrier_release(id, block_.completed_barriers);
    ++block_.completed_barriers;
}

inline void BlockBarriers::release_split(Warp& warp, Split& split) {
    if (BarrierKind(split.pc->detail) >= BarrierKind::popc)
        set_reduction(warp, split, block_.barriers[split.barrier]);
    split.state = Split::runnable;
    split.pc = split.pc + 1;
    warp.turns = 0;
    warp.will_go_on_at(split.pc);
    block_.runnable |= 1u << warp.index;
}

void BlockBarriers::release_splits(Warp& warp, unsigned id) {
    bool released = false;
    for (std::size_t s = 0; s < warp.splits.size(); ++s) {
        Split& split = warp.splits[s];
        if (split.state != Split::at_barrier || split.barrier != id) continue;
        release_split(warp, split);
        released = true;
        // With one program counter, the lanes that arrived first go on before the other lanes.
        if (has_one_program_counter(policy_))
            std::rotate(warp.splits.begin(), warp.splits.begin() + long(s),
                        warp.splits.begin() + long(s) + 1);
    }
    if (released) warp.merge_splits();
    warp.note_only_split();
}

// Writes the result of a reduction (bar.red) to the destination of the split's lanes.
void BlockBarriers::set_reduction(Warp& warp, const Split& split,
                                  const BarrierState& barrier) const {
    const Instruction& i = *split.pc;
    const auto kind = BarrierKind(i.detail);
    if (kind == BarrierKind::popc)
        for (std::uint32_t m = split.mask; m; m &= m - 1)
            warp.set(i.operands[2], unsigned(std::countr_zero(m)), barrier.holding);
    if (kind == BarrierKind::all || kind == BarrierKind::any) {
        const bool holds =
            kind == BarrierKind::all ? barrier.holding == barrier.arrived : barrier.holding > 0;
        std::uint32_t& p = warp.predicate(i.operands[2]);
        p = (p & ~split.mask) | (holds ? split.mask : 0);
    }
}

// The strict policy, for .aligned barriers: "All threads in the warp must execute the same barrier
// instruction". Lanes that have exited or exit next are not missing, nor are lanes that are about
// to execute this barrier.
void BlockBarriers::require_whole_warp(const Warp& warp, const Split& arrived) const {
    std::uint32_t missing = staying_lanes(warp);
    for (const Split& s : warp.splits)
        if (s.pc == arrived.pc ||
            (s.state == Split::runnable && skip_inserted(*warp.block->kernel, s.pc) == arrived.pc))
            missing &= ~s.mask;
    if (missing) fail_divergent_barrier(block_, warp, arrived, missing);
}

}  // namespace warpscope::emulator
