#include "emulator/wing/compiled/generator.h"

#include "emulator/wing/compiled/compiled_kernel.h"
#include "emulator/wing/compiled/warp_layout.h"

namespace warpscope::emulator {

namespace {

void count_missed(LateCode& late) {
    late.missed.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

Generator::Generator(Ir& ir, const Plan& plan, const Part& part, const Instruction* code,
                     unsigned lanes, bool has_fma, bool reports)
    : ir_(ir),
      plan_(plan),
      part_(part),
      kernel_(plan.kernel()),
      code_(code),
      width_(lanes),
      group_count_(lanes_per_warp / lanes),
      reports_(reports),
      may_have_pairs_(may_have_pairs()),
      arithmetics_{ir, has_fma, kernel_.flush_subnormals} {}

void Generator::begin_function() {
    const LlvmType pointer = ir_.pointer();
    const LlvmValue function = ir_.function(function_name, pointer, {pointer, pointer});
    instruction_ = ir_.llvm().GetParam(function, 0);
    warp_ = ir_.llvm().GetParam(function, 1);
    ir_.go_on_in(ir_.block("entry"));
}

void Generator::write_call_of(LateCode& late) {
    begin_function();
    const LlvmBlock there = ir_.block("there"), missing = ir_.block("missing");
    const LlvmValue handlers = ir_.load_acquired(ir_.pointer(), ir_.address(&late.handlers));
    ir_.likely(ir_.compare(Ir::ne, handlers, ir_.zero(ir_.pointer())), there, missing);
    ir_.go_on_in(there);
    const LlvmValue entry = ir_.cast(Ir::zext, entry_of_instruction(), ir_.integer(64));
    go_to(ir_.load(ir_.pointer(), ir_.at(handlers, ir_.op(Ir::mul, entry, sizeof(Handler)))));
    ir_.go_on_in(missing);
    ir_.call(reinterpret_cast<const void*>(&count_missed), ir_.nothing(), {ir_.address(&late)});
    run_original();
}

// Ends the function with a handler.
void Generator::go_to(LlvmValue handler) {
    const LlvmValue next = ir_.call(handler, ir_.pointer(), {instruction_, warp_});
    ir_.llvm().SetTailCall(next, 1);
    ir_.give(next);
}

void Generator::write() {
    begin_function();
    declare_variables();
    write_entries();
    for (std::uint32_t u = part_.begin; u < part_.end; ++u) write_unit(u);
    end_part();
    write_ways();
    write_exits();
}

void Generator::declare_variables() {
    for (const auto& [operand, variable] : plan_.variables()) {
        const unsigned parts = is_uniform(operand) ? 1 : group_count_;
        const LlvmType type = variable_type(operand);
        for (unsigned g = 0; g < parts; ++g) storage_[operand].push_back(ir_.variable(type));
    }
    const LlvmType pointer = ir_.pointer(), i64 = ir_.integer(64);
    left_ = ir_.variable(i64);
    pauses_ = ir_.variable(ir_.integer(1));
    are_consecutive_ = ir_.variable(ir_.integer(1));
    are_in_shared_ = ir_.variable(ir_.integer(1));
    next_ = ir_.variable(pointer);
    handler_ = ir_.variable(pointer);
    outcome_ = ir_.variable(ir_.integer(8));
    ends_turn_ = ir_.block("ends_turn");
    runs_handler_ = ir_.block("runs_handler");
    if (reports_) announces_ = ir_.block("announces");
    registers_ = ir_.load(pointer, ir_.at(warp_, WarpLayout::registers));
    block_ = ir_.load(pointer, ir_.at(warp_, WarpLayout::block));
    shared_ = ir_.load(pointer, ir_.at(block_, WarpLayout::shared));
    shared_bytes_ = ir_.cast(
        Ir::zext, ir_.load(ir_.integer(32), ir_.at(block_, WarpLayout::shared_bytes)), i64);
    count_places();
    ir_.store(ir_.load(i64, ir_.at(warp_, WarpLayout::left)), left_);
    if (plan_.mode() == Instruction::masked)
        running_ = ir_.load(ir_.integer(32), ir_.at(warp_, WarpLayout::mask));
    addresses_ = ir_.variable(ir_.integer(64, lanes_per_warp));
    if (!reports_) return;
    observed_ = ir_.load(pointer, ir_.at(block_, WarpLayout::observed));
    wanted_ = ir_.load(ir_.integer(32), ir_.at(observed_, WarpLayout::wanted));
    executions_ = ir_.load(pointer, ir_.at(observed_, WarpLayout::executions));
    if (running_) idle_lanes_ = number_of_lanes(ir_.not_(running_));
}

LlvmBlock Generator::leader(std::uint32_t u) {
    LlvmBlock& block = leaders_[u];
    if (!block) block = ir_.block("unit");
    return block;
}
// Where the unit is in another tight loop, registers change their places on the way.
LlvmBlock Generator::way_to(std::uint32_t u) {
    if (!is_in_part(u)) return way_to_part_of(u);
    if (plan_.loop(u) == loop_) return leader(u);
    LlvmBlock& block = ways_[{loop_, u}];
    if (!block) block = ir_.block("way");
    return block;
}
LlvmBlock Generator::begin_in_loop(std::uint32_t u) {
    if (plan_.live_in_loop(u).empty()) return leader(u);
    LlvmBlock& block = begins_in_loops_[u];
    if (!block) block = ir_.block("begin_in_loop");
    return block;
}
LlvmBlock Generator::pause_before(std::uint32_t u) {
    LlvmBlock& block = pauses_before_[{loop_, u}];
    if (!block) block = ir_.block("pause");
    return block;
}
LlvmBlock Generator::interpret(std::uint32_t u) {
    LlvmBlock& block = interprets_[{loop_, u}];
    if (!block) block = ir_.block("interpret");
    return block;
}

void Generator::write_unit(std::uint32_t u) {
    if (plan_.is_leader()[u]) {
        close_segment();
        in_scalar_part();
        ir_.jump(way_to(u));
        begin_segment(leader(u));
        loaded_.clear();
        loop_ = plan_.loop(u);
    }
    const Unit& unit = plan_.units()[u];
    switch (unit.kind) {
        case Unit::Kind::computes:
            return compute(unit);
        case Unit::Kind::loads:
        case Unit::Kind::stores:
            return access(u);
        case Unit::Kind::shuffles:
            shuffle(unit);
            return checkpoint(u);
        case Unit::Kind::passes:
            if (reports_ && (unit.instruction->events & Instruction::fences)) return leave(u);
            if (unit.instruction->cost > 0) checkpoint(u);
            return;
        case Unit::Kind::branches:
            return branch(u);
        case Unit::Kind::waits:
        case Unit::Kind::leaves:
            return leave(u);
    }
}

void Generator::leave(std::uint32_t u) {
    close_segment();
    in_scalar_part();
    ir_.jump(interpret(u));
    begin_segment(ir_.block("behind"));
}

LlvmValue Generator::instruction_address(std::uint32_t u) const {
    return ir_.address(code_ + plan_.units()[u].begin);
}

void Generator::fill(std::uint32_t operand) {
    for (unsigned g = 0; g < storage_[operand].size(); ++g) fill(operand, g);
}
void Generator::fill(std::uint32_t operand, unsigned g) {
    const unsigned align = is_uniform(operand) ? 4 : 16;
    ir_.store(ir_.load(variable_type(operand), slot(operand, g), align), storage_[operand][g]);
}

void Generator::spill(std::uint32_t operand) {
    const LlvmType type = variable_type(operand);
    for (unsigned g = 0; g < storage_[operand].size(); ++g)
        spill(operand, g, ir_.load(type, storage_[operand][g]));
}

// Lanes that do not run keep what lies in the register file.
void Generator::spill(std::uint32_t operand, unsigned g, LlvmValue value) {
    const bool uniform = is_uniform(operand);
    const LlvmType type = variable_type(operand);
    const LlvmValue place = slot(operand, g);
    if (running_ && !uniform) {
        ir_.intrinsic("masked.store", ir_.nothing(),
                      {value, place, ir_.integer_of(32, 16), lanes_of_mask(running_, g)},
                      {type, ir_.pointer()});
        return;
    }
    if (running_ && plan_.variables().at(operand).kind == SlotVariable::Kind::predicate)
        value = ir_.op(Ir::or_, ir_.op(Ir::and_, value, running_),
                       ir_.op(Ir::and_, ir_.load(type, place), ir_.not_(running_)));
    ir_.store(value, place, uniform ? 4 : 16);
}

void Generator::begin_segment(LlvmBlock block) {
    scalar_part_ = block;
    groups_.clear();
    group_begins_.clear();
    predicates_.clear();
    changed_predicates_.clear();
}

// Chains the scalar part, the groups and a tail, which becomes the next scalar part.
void Generator::close_segment() {
    if (groups_.empty() && changed_predicates_.empty()) {
        predicates_.clear();
        return;
    }
    const LlvmBlock tail = ir_.block("tail");
    LlvmBlock before = scalar_part_;
    for (unsigned g = 0; g < groups_.size(); ++g) {
        ir_.go_on_in(before);
        ir_.jump(group_begins_[g]);
        before = groups_[g];
    }
    ir_.go_on_in(before);
    ir_.jump(tail);
    ir_.go_on_in(tail);
    for (const std::uint32_t predicate : changed_predicates_)
        set_variable(predicate, 0, combined(predicates_[predicate]));
    begin_segment(tail);
}

void Generator::in_group(unsigned g) {
    if (groups_.empty())
        for (unsigned k = 0; k < group_count_; ++k) {
            group_begins_.push_back(ir_.block("group"));
            groups_.push_back(group_begins_.back());
        }
    ir_.go_on_in(groups_[g]);
}

}  // namespace warpscope::emulator
