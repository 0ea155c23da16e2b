#include "emulator/wing/compiled/generator.h"
#include "emulator/wing/compiled/warp_layout.h"

// The ways between loops and parts of a plan, and those out of compiled code.
namespace warpscope::emulator {

void Generator::write_exits() {
    std::set<Way> ways;
    for (const auto& [way, block] : pauses_before_) ways.insert(way);
    for (const auto& [way, block] : interprets_) ways.insert(way);
    for (const Way& way : ways) write_exit(way);
    write_ways_to_parts();
    write_ends();
}

void Generator::write_ways() {
    for (const auto& [way, block] : ways_) {
        ir_.go_on_in(block);
        const auto [loop, u] = way;
        for (const std::uint32_t operand : plan_.written_in_loop(loop, u)) spill(operand);
        ir_.jump(begin_in_loop(u));
    }
    for (const auto& [u, block] : begins_in_loops_) {
        ir_.go_on_in(block);
        for (const std::uint32_t operand : plan_.live_in_loop(u)) fill(operand);
        ir_.jump(leader(u));
    }
}

// The interpreter goes on at another part's entry, as where it has run an instruction itself.
LlvmBlock Generator::way_to_part_of(std::uint32_t u) {
    if (!plan_.is_entry()[u]) return interpret(u);
    LlvmBlock& block = ways_to_parts_[{loop_, u}];
    if (!block) block = ir_.block("way_to_part");
    return block;
}

// Control flow never runs off the end of the kernel.
void Generator::end_part() {
    close_segment();
    in_scalar_part();
    if (part_.end == plan_.units().size())
        ir_.llvm().BuildUnreachable(ir_.builder());
    else
        ir_.jump(way_to(part_.end));
}

void Generator::write_ways_to_parts() {
    for (const auto& [way, block] : ways_to_parts_) {
        const auto [loop, u] = way;
        ir_.go_on_in(block);
        for (const std::uint32_t operand : plan_.unsaved(loop, u)) spill(operand);
        store_left();
        ir_.give(instruction_address(u));
    }
}

// Brings the registers that compiled code has written into the register file. Then the turn ends
// before unit `u`, or the unit's own handler runs, or the warp waits at a barrier.
void Generator::write_exit(const Way& way) {
    const auto [loop, u] = way;
    const bool pauses = pauses_before_.contains(way), interprets = interprets_.contains(way);
    const LlvmBlock leaving = ir_.block("leave");
    for (const bool paused : {true, false}) {
        if (!(paused ? pauses : interprets)) continue;
        ir_.go_on_in(paused ? pauses_before_[way] : interprets_[way]);
        ir_.store(ir_.integer_of(1, paused), pauses_);
        ir_.jump(leaving);
    }
    ir_.go_on_in(leaving);
    for (const std::uint32_t operand : plan_.unsaved(loop, u)) spill(operand);
    ir_.store(instruction_address(u), next_);
    const LlvmBlock pausing = ir_.block(), running = ir_.block();
    ir_.branch(ir_.load(ir_.integer(1), pauses_), pausing, running);
    ir_.go_on_in(pausing);
    end_turn(Warp::Outcome::paused);
    ir_.go_on_in(running);
    if (plan_.units()[u].kind == Unit::Kind::waits)
        wait_at_barrier(u);
    else
        run_handler(u);
}

void Generator::end_turn(Warp::Outcome outcome) {
    ir_.store(ir_.integer_of(8, std::uint8_t(outcome)), outcome_);
    ir_.jump(ends_turn_);
}

void Generator::wait_at_barrier(std::uint32_t u) {
    const Instruction& i = *plan_.units()[u].instruction;
    ir_.store(ir_.op(Ir::sub, ir_.load(ir_.integer(64), left_), i.cost), left_);
    count_execution(u);
    ir_.store(ir_.integer_of(32, *plan_.constant(i.operands[0])),
              ir_.at(warp_, WarpLayout::waits_for));
    end_turn(Warp::Outcome::at_barrier);
}

void Generator::run_handler(std::uint32_t u) {
    const Instruction& first = kernel_.code[plan_.units()[u].begin];
    ir_.store(ir_.address(reinterpret_cast<const void*>(first.handlers[plan_.mode()])), handler_);
    const bool announced = reports_ && (first.events & reported_events);
    ir_.jump(announced ? announces_ : runs_handler_);
}

// ExecutionCounter counts what a handler executes from here on.
void Generator::store_left() {
    const LlvmValue left = ir_.load(ir_.integer(64), left_);
    ir_.store(left, ir_.at(warp_, WarpLayout::left));
    if (reports_) ir_.store(left, ir_.at(observed_, WarpLayout::left_before_last));
}

// What all exits share: what Warp::pause() and Warp::wait_at_barrier() do, and the call of a
// handler.
void Generator::write_ends() {
    const LlvmType pointer = ir_.pointer();
    ir_.go_on_in(ends_turn_);
    store_left();
    ir_.store(ir_.load(pointer, next_), ir_.at(warp_, WarpLayout::stopped_at));
    ir_.store(ir_.load(ir_.integer(8), outcome_), ir_.at(warp_, WarpLayout::outcome));
    ir_.give(ir_.zero(pointer));
    if (reports_) {
        ir_.go_on_in(announces_);
        const LlvmBlock observed = ir_.block();
        ir_.branch(ir_.compare_with(Ir::eq, wanted_, 0), runs_handler_, observed);
        ir_.go_on_in(observed);
        store_left();
        ir_.call(reinterpret_cast<const void*>(&announce_instruction), ir_.nothing(),
                 {ir_.load(pointer, next_), warp_});
        ir_.jump(runs_handler_);
    }
    ir_.go_on_in(runs_handler_);
    store_left();
    if (reports_) ir_.store(ir_.load(pointer, next_), ir_.at(observed_, WarpLayout::last));
    const LlvmValue returned =
        ir_.call(ir_.load(pointer, handler_), pointer, {ir_.load(pointer, next_), warp_});
    ir_.llvm().SetTailCall(returned, 1);
    ir_.give(returned);
}

}  // namespace warpscope::emulator
