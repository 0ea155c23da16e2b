#include "emulator/fast_paths/compiled/generate/turn_counter.h"

#include "emulator/fast_paths/compiled/warp_layout.h"

namespace warpscope::emulator {

void TurnCounter::begin() {
    left_ = ir_.variable(ir_.integer(64));
    set_left(context_.warp_member(ir_.integer(64), WarpLayout::left));
    if (!context_.reports) return;
    executions_ = context_.observed_member(ir_.pointer(), WarpLayout::executions);
    if (context_.running) idle_lanes_ = context_.number_of_lanes(ir_.not_(context_.running));
}

LlvmValue TurnCounter::left_after(std::uint64_t cost) const {
    return ir_.op(Ir::sub, ir_.load(ir_.integer(64), left_), cost);
}

void TurnCounter::take(std::uint32_t u) const {
    set_left(left_after(context_.unit(u).instruction->cost));
    count_execution(u);
}

LlvmValue TurnCounter::is_left_after(std::uint32_t u) const {
    const LlvmValue left = left_after(context_.unit(u).instruction->cost);
    set_left(left);
    count_execution(u);
    return ir_.compare_with(Ir::sgt, left, 0);
}

// The interpreter counts the instructions of the other lanes only.
void TurnCounter::count_skip(std::uint32_t branch, std::uint32_t join, std::uint64_t skipped,
                             LlvmValue mask) const {
    const LlvmType i64 = ir_.integer(64);
    const LlvmValue counter = ir_.at(context_.warp, WarpLayout::thread_instructions);
    const LlvmValue lanes = context_.number_of_lanes(mask);
    ir_.store(ir_.op(Ir::sub, ir_.load(i64, counter), ir_.op(Ir::mul, lanes, skipped)), counter);
    count_execution(branch);
    if (!context_.reports) return;
    add_to_count(branch, offsetof(ExecutionCount, separations), ir_.integer_of(64, 1));
    for (std::uint32_t u = branch + 1; u < join; ++u) {
        count_execution(u);
        if (context_.unit(u).instruction->cost > 0)
            add_to_count(u, offsetof(ExecutionCount, idle_lanes), lanes);
    }
}

void TurnCounter::store_left() const {
    const LlvmValue left = ir_.load(ir_.integer(64), left_);
    ir_.store(left, ir_.at(context_.warp, WarpLayout::left));
    // ExecutionCounter counts what a handler executes from here on.
    if (context_.reports) ir_.store(left, ir_.at(context_.observed, WarpLayout::left_before_last));
}

// Tells the observer that the running lanes have executed a cost point; see ExecutionCounter.
void TurnCounter::count_execution(std::uint32_t u) const {
    if (!context_.reports || context_.unit(u).instruction->cost == 0) return;
    add_to_count(u, offsetof(ExecutionCount, warps), ir_.integer_of(64, 1));
    if (context_.running) add_to_count(u, offsetof(ExecutionCount, idle_lanes), idle_lanes_);
}

void TurnCounter::add_to_count(std::uint32_t u, std::size_t member, LlvmValue number) const {
    const LlvmValue count =
        ir_.at(executions_, context_.pc_of(u) * sizeof(ExecutionCount) + member);
    ir_.store(ir_.op(Ir::add, ir_.load(ir_.integer(64), count), number), count);
}

}  // namespace warpscope::emulator
