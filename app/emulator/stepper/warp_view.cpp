#include <algorithm>

#include "emulator/stepper/stepper_record.h"

namespace warpscope::emulator {

namespace {

// The index of the PTX instruction at `i` or the next one: what the decoder inserted is skipped.
uint32_t shown(const Kernel& kernel, const Instruction* i) {
    uint32_t pc = kernel.index_of(i);
    while (kernel.lines[pc].pseudo) ++pc;
    return pc;
}

// A split that can run. It may have joins before it that it has not run through yet; its warp takes
// them at its next turn.
SplitView view_of_runnable(const Kernel& kernel, const Warp& warp, const Split& split) {
    SplitView v{SplitView::State::running, split.mask, shown(kernel, split.pc), 0};
    int32_t r = split.record;
    for (const Instruction* i = split.pc; kernel.lines[kernel.index_of(i)].pseudo; ++i)
        while (i->role == Role::join && r >= 0 && warp.records[size_t(r)].join == i) {
            const Record& record = warp.records[size_t(r)];
            if ((record.arrived | v.mask) != record.expected) {
                v.state = SplitView::State::at_join;
                v.pc = shown(kernel, i);
                return v;
            }
            v.mask |= record.arrived;
            r = record.parent;
        }
    return v;
}

}  // namespace

WarpView view_of(const Kernel& kernel, const Warp& warp, BarrierPolicy barriers) {
    WarpView view{warp.threads, warp.exited & warp.threads, {}};
    uint32_t seen = 0;
    for (const Split& s : warp.splits) {
        SplitView v;
        if (s.state == Split::runnable)
            v = view_of_runnable(kernel, warp, s);
        else if (s.state == Split::at_barrier)
            v = {SplitView::State::at_barrier, s.mask, kernel.index_of(s.pc), s.barrier};
        else
            v = {SplitView::State::at_warp_sync, s.mask, kernel.index_of(s.pc), 0};
        seen |= v.mask;
        view.splits.push_back(v);
    }
    for (const Record& r : warp.records)
        if (r.join && (r.arrived & ~seen))
            view.splits.push_back(
                {SplitView::State::at_join, r.arrived & ~seen, shown(kernel, r.join), 0});
    // With one program counter those that wait keep the others from going on.
    const auto first = barriers == BarrierPolicy::before_volta ? SplitView::State::at_barrier
                                                               : SplitView::State::running;
    std::stable_partition(view.splits.begin(), view.splits.end(),
                          [&](const SplitView& v) { return v.state == first; });
    return view;
}

}  // namespace warpscope::emulator
