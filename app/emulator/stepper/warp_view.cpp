#include "emulator/stepper/warp_view.h"

#include <algorithm>

#include "emulator/warp/instruction_walk.h"

namespace warpscope::emulator {

namespace {

std::uint32_t ptx_pc(const Kernel& kernel, const Instruction* i) {
    return kernel.index_of(skip_inserted(kernel, i));
}

/// A split that can run. Joins may stand before its next PTX instruction, which its warp executes
/// in its next turn only. The view shows the split as it is after them.
SplitView view_of_runnable(const Warp& warp, const Split& split) {
    const Kernel& kernel = *warp.block->kernel;
    SplitView v{SplitView::State::running, split.mask, ptx_pc(kernel, split.pc), 0};
    std::int32_t j = split.join;
    for (const Instruction* i = split.pc; kernel.lines[kernel.index_of(i)].pseudo; ++i)
        while (i->role == Role::join && j >= 0 && warp.joins[std::size_t(j)].at == i) {
            const PendingJoin& join = warp.joins[std::size_t(j)];
            if ((join.arrived | v.mask) != join.expected) {
                v.state = SplitView::State::at_join;
                v.pc = ptx_pc(kernel, i);
                return v;
            }
            v.mask |= join.arrived;
            j = join.parent;
        }
    return v;
}

}  // namespace

WarpView view_of(const Warp& warp, BarrierPolicy barriers) {
    const Kernel& kernel = *warp.block->kernel;
    WarpView view{warp.threads, warp.exited & warp.threads, {}};
    std::uint32_t seen = 0;
    for (const Split& s : warp.splits) {
        SplitView v;
        if (s.state == Split::runnable)
            v = view_of_runnable(warp, s);
        else if (s.state == Split::at_barrier)
            v = {SplitView::State::at_barrier, s.mask, kernel.index_of(s.pc), s.barrier};
        else
            v = {SplitView::State::at_warp_sync, s.mask, kernel.index_of(s.pc), 0};
        seen |= v.mask;
        view.splits.push_back(v);
    }
    for (const PendingJoin& join : warp.joins)
        if (join.at && (join.arrived & ~seen))
            view.splits.push_back(
                {SplitView::State::at_join, join.arrived & ~seen, ptx_pc(kernel, join.at), 0});
    // With one program counter, the lanes at a barrier keep the others from running.
    const auto first = barriers == BarrierPolicy::before_volta ? SplitView::State::at_barrier
                                                               : SplitView::State::running;
    std::stable_partition(view.splits.begin(), view.splits.end(),
                          [&](const SplitView& v) { return v.state == first; });
    return view;
}

}  // namespace warpscope::emulator
