#include "emulator/fast_paths/compiled/generate/exits.h"

#include <set>

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

void Exits::declare_variables() {
    pauses_ = ir_.variable(ir_.integer(1));
    next_ = ir_.variable(ir_.pointer());
    handler_ = ir_.variable(ir_.pointer());
    outcome_ = ir_.variable(ir_.integer(8));
    ends_turn_ = ir_.block("ends_turn");
    runs_handler_ = ir_.block("runs_handler");
    if (context_.reports) announces_ = ir_.block("announces");
}

namespace {

/// A block of a map, which is made the first time.
template <typename Key>
LlvmBlock made(const Ir& ir, std::map<Key, LlvmBlock>& blocks, const Key& key, const char* name) {
    LlvmBlock& block = blocks[key];
    if (!block) block = ir.block(name);
    return block;
}

}  // namespace

LlvmBlock Exits::leader(std::uint32_t u) {
    return made(ir_, leaders_, u, "unit");
}

LlvmBlock Exits::from_outside_loops(std::uint32_t u) {
    if (context_.plan.live_in_loop(u).empty()) return leader(u);
    return made(ir_, from_outside_loops_, u, "begin_in_loop");
}

// The interpreter goes on at another part's entry, as where it has run an instruction itself.
LlvmBlock Exits::way_to(std::uint32_t u) {
    if (!is_in_part(u) && !context_.unit(u).is_entry) return interpret(u);
    if (!is_in_part(u)) return made(ir_, ways_to_parts_, {context_.loop, u}, "way_to_part");
    if (context_.plan.loop(u) == context_.loop) return leader(u);
    return made(ir_, ways_, {context_.loop, u}, "way");
}

LlvmBlock Exits::pause_before(std::uint32_t u) {
    return made(ir_, pauses_before_, {context_.loop, u}, "pause");
}

LlvmBlock Exits::interpret(std::uint32_t u) {
    return made(ir_, interprets_, {context_.loop, u}, "interpret");
}

void Exits::write() {
    write_ways();
    std::set<Way> ways;
    for (const auto& [way, block] : pauses_before_) ways.insert(way);
    for (const auto& [way, block] : interprets_) ways.insert(way);
    for (const Way& way : ways) write_exit(way);
    write_ways_to_parts();
    write_ends();
}

void Exits::write_ways() {
    for (const auto& [way, block] : ways_) {
        ir_.go_on_in(block);
        const auto [loop, u] = way;
        slots_.spill(context_.plan.written_in_loop(loop, u));
        ir_.jump(from_outside_loops(u));
    }
    for (const auto& [u, block] : from_outside_loops_) {
        ir_.go_on_in(block);
        slots_.fill(context_.plan.live_in_loop(u));
        ir_.jump(leader(u));
    }
}

void Exits::write_ways_to_parts() {
    for (const auto& [way, block] : ways_to_parts_) {
        const auto [loop, u] = way;
        ir_.go_on_in(block);
        slots_.spill(context_.plan.unsaved(loop, u));
        turn_.store_left();
        ir_.give(address_of_unit(u));
    }
}

// Brings the registers that compiled code has written into the register file. Then the turn ends
// before unit `u`, or the unit's own handler runs, or the warp waits at a barrier.
void Exits::write_exit(const Way& way) {
    const auto [loop, u] = way;
    const LlvmBlock leaving = ir_.block("leave");
    for (const auto* blocks : {&pauses_before_, &interprets_}) {
        const auto found = blocks->find(way);
        if (found == blocks->end()) continue;
        ir_.go_on_in(found->second);
        ir_.store(ir_.integer_of(1, blocks == &pauses_before_), pauses_);
        ir_.jump(leaving);
    }
    ir_.go_on_in(leaving);
    slots_.spill(context_.plan.unsaved(loop, u));
    ir_.store(address_of_unit(u), next_);
    const LlvmBlock pausing = ir_.block(), running = ir_.block();
    ir_.branch(ir_.load(ir_.integer(1), pauses_), pausing, running);
    ir_.go_on_in(pausing);
    end_turn(Warp::Outcome::paused);
    ir_.go_on_in(running);
    if (context_.unit(u).kind == Unit::Kind::waits)
        wait_at_barrier(u);
    else
        run_handler(u);
}

void Exits::end_turn(Warp::Outcome outcome) {
    ir_.store(ir_.integer_of(8, std::uint8_t(outcome)), outcome_);
    ir_.jump(ends_turn_);
}

void Exits::wait_at_barrier(std::uint32_t u) {
    turn_.take(u);
    const std::uint32_t barrier = context_.unit(u).instruction->operands[0];
    ir_.store(ir_.integer_of(32, *context_.plan.constant(barrier)),
              ir_.at(context_.warp, WarpLayout::waits_for));
    end_turn(Warp::Outcome::at_barrier);
}

void Exits::run_handler(std::uint32_t u) {
    const Instruction& first = context_.kernel().code[context_.unit(u).begin];
    const Handler handler = first.handlers[context_.plan.mode()];
    ir_.store(ir_.address(reinterpret_cast<const void*>(handler)), handler_);
    const bool announced = context_.reports && (first.events & reported_events);
    ir_.jump(announced ? announces_ : runs_handler_);
}

// The blocks in which all exits end: one does what Warp::pause() and Warp::wait_at_barrier() do,
// one calls a handler.
void Exits::write_ends() {
    const LlvmType pointer = ir_.pointer();
    ir_.go_on_in(ends_turn_);
    turn_.store_left();
    ir_.store(ir_.load(pointer, next_), ir_.at(context_.warp, WarpLayout::stopped_at));
    ir_.store(ir_.load(ir_.integer(8), outcome_), ir_.at(context_.warp, WarpLayout::outcome));
    ir_.give(ir_.zero(pointer));
    if (context_.reports) {
        ir_.go_on_in(announces_);
        const LlvmBlock observed = ir_.block();
        ir_.branch(ir_.compare_with(Ir::eq, context_.wanted_events, 0), runs_handler_, observed);
        ir_.go_on_in(observed);
        turn_.store_left();
        ir_.call(reinterpret_cast<const void*>(&announce_instruction), ir_.nothing(),
                 {ir_.load(pointer, next_), context_.warp});
        ir_.jump(runs_handler_);
    }
    ir_.go_on_in(runs_handler_);
    turn_.store_left();
    if (context_.reports)
        ir_.store(ir_.load(pointer, next_), ir_.at(context_.observed, WarpLayout::last));
    const LlvmValue next = ir_.load(pointer, next_);
    context_.go_to(ir_.load(pointer, handler_), next);
}

}  // namespace warpscope::emulator
