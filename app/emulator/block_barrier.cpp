#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "emulator/block.h"
#include "emulator/error.h"
#include "emulator/handlers.h"

// Barriers as Volta and later have them: each thread arrives for itself, and a barrier without a
// thread count waits for every thread of the block that has not exited.
namespace warpscope::emulator {

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
    barrier.arrived += uint32_t(std::popcount(split.mask));
    if (kind >= BarrierKind::popc)
        barrier.ayes += uint32_t(std::popcount(split.mask & warp.predicate(i->operands[3])));
    if (observer_) observe_arrival(i, warp, split.mask, barrier, id);
    if (kind == BarrierKind::arrive) {
        split.state = Split::runnable;
        split.pc = i + 1;
    }
    release_if_complete(id);
}

void BlockRunner::release_if_complete(unsigned id) {
    const Barrier& barrier = barriers_[id];
    if (barrier.arrived == 0) return;
    const uint32_t needed = barrier.expected ? barrier.expected : context_.live_threads;
    if (barrier.arrived >= needed) release(id);
}

void BlockRunner::release(unsigned id) {
    Barrier& barrier = barriers_[id];
    for (Warp& warp : warps_) {
        bool released = false;
        for (Split& split : warp.splits) {
            if (split.state != Split::at_barrier || split.barrier != id) continue;
            const Instruction* i = split.pc;
            const auto kind = BarrierKind(i->detail);
            const uint32_t threads = barrier.arrived;
            if (kind == BarrierKind::popc)
                for (uint32_t m = split.mask; m; m &= m - 1)
                    warp.set(i->operands[2], unsigned(std::countr_zero(m)), barrier.ayes);
            if (kind == BarrierKind::all || kind == BarrierKind::any) {
                const bool holds =
                    kind == BarrierKind::all ? barrier.ayes == threads : barrier.ayes > 0;
                uint32_t& p = warp.predicate(i->operands[2]);
                p = (p & ~split.mask) | (holds ? split.mask : 0);
            }
            split.state = Split::runnable;
            split.pc = i + 1;
            released = true;
        }
        if (!released) continue;
        if (warp.splits.size() > 1) warp.merge_splits();
        warp.turns = 0;
        runnable_ |= 1u << warp.index;
    }
    barrier = {};
    ++statistics_.barriers;
    if (observer_)
        observer_->on_barrier_release({context_.block,
                                       id,
                                       epoch_,
                                       context_.live_threads,
                                       {context_.shared, context_.shared_bytes}});
    ++epoch_;
}

void BlockRunner::threads_left() {
    for (unsigned id = 0; id < barriers_per_block; ++id) release_if_complete(id);
}

void BlockRunner::report_deadlock() const {
    std::string waiting;
    for (const Warp& warp : warps_)
        for (const Split& split : warp.splits) {
            const char* what = split.state == Split::at_barrier ? "barrier" : "warp-wide exchange";
            waiting += fmt::format(
                "{}warp {} lanes {:#010x} at the {} {}{}", waiting.empty() ? "" : "; ", warp.index,
                split.mask, what, kernel_.where(kernel_.index_of(split.pc)),
                split.state == Split::at_barrier ? fmt::format(" (barrier {})", split.barrier)
                                                 : "");
        }
    const Dim3& g = launch_.grid;
    throw DeadlockError(
        fmt::format("kernel {}: block ({},{},{}) can't go on, its threads wait for each "
                    "other: {}",
                    kernel_.name, context_.block % g.x, context_.block / g.x % g.y,
                    context_.block / g.x / g.y, waiting));
}

}  // namespace warpscope::emulator
