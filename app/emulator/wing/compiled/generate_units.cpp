#include <algorithm>

#include "emulator/handlers/handlers.h"
#include "emulator/wing/compiled/generator.h"
#include "emulator/wing/compiled/warp_layout.h"

// Arithmetic, shuffles, branches and the count of executed instructions.
namespace warpscope::emulator {

void Generator::compute(const Unit& unit) {
    const Instruction& i = *unit.instruction;
    if (i.type == Type::pred) return compute_mask(unit);
    bool is_scalar = is_uniform(i.operands[0]);
    if (operand_type(i, 0) == Type::pred)
        is_scalar = is_uniform(i.operands[1]) && is_uniform(i.operands[2]);
    is_scalar ? compute_scalar(unit) : compute_lanes(unit);
}

// Logic on predicates works on masks of 32 lanes.
void Generator::compute_mask(const Unit& unit) {
    const Instruction& i = *unit.instruction;
    if (!changed_predicates_.empty()) close_segment();
    in_scalar_part();
    LlvmValue sources[2] = {};
    for (unsigned k = 0; k < source_count(i); ++k) sources[k] = mask(i.operands[k + 1]);
    const LlvmValue result = unit.make(arithmetics_, i, sources);
    if (unit.guard)
        set_mask_where(condition(*unit.guard), i.operands[0], result);
    else
        set_mask(i.operands[0], result);
}

void Generator::compute_scalar(const Unit& unit) {
    const Instruction& i = *unit.instruction;
    if (!changed_predicates_.empty()) close_segment();
    LlvmValue sources[4] = {};
    for (unsigned k = 0; k < source_count(i); ++k)
        sources[k] = scalar(i.operands[k + 1], operand_type(i, k + 1));
    in_scalar_part();
    LlvmValue result = unit.make(arithmetics_, i, sources);
    scalar_part_ = ir_.here();
    const LlvmValue active = unit.guard ? condition(*unit.guard) : nullptr;
    if (operand_type(i, 0) == Type::pred) {
        result = ir_.cast(Ir::sext, result, ir_.integer(32));
        if (active) return set_mask_where(active, i.operands[0], result);
        return set_mask(i.operands[0], result);
    }
    if (active)
        result = ir_.select(ir_.compare_with(Ir::ne, active, 0), result,
                            scalar(i.operands[0], operand_type(i, 0)));
    set_scalar(i.operands[0], result);
}

void Generator::compute_lanes(const Unit& unit) {
    const Instruction& i = *unit.instruction;
    const bool is_predicate = operand_type(i, 0) == Type::pred;
    Lanes results;
    for (unsigned g = 0; g < group_count_; ++g) {
        LlvmValue sources[4] = {};
        for (unsigned k = 0; k < source_count(i); ++k) sources[k] = source(i, k + 1, g);
        in_group(g);
        LlvmValue result = unit.make(arithmetics_, i, sources);
        leave_group(g);
        if (active_) {
            const LlvmValue active = lanes_of_mask(active_, g);
            result = ir_.select(active, result, lanes(i.operands[0], operand_type(i, 0), g));
        }
        if (unit.guard) {
            LlvmValue active = lanes(unit.guard->operands[0], Type::pred, g);
            if (unit.guard->role == Role::guard_not) active = ir_.not_(active);
            const LlvmValue before = lanes(i.operands[0], operand_type(i, 0), g);
            result = ir_.select(active, result, before);
        }
        if (is_predicate)
            results.push_back(result);
        else
            set_lanes(i.operands[0], result, g);
    }
    if (!is_predicate) return;
    predicates_[i.operands[0]] = std::move(results);
    changed_predicates_.insert(i.operands[0]);
}

// shfl.sync of all lanes by a constant distance within constant segments (PTX ISA 9.7.9.6).
void Generator::shuffle(const Unit& unit) {
    close_segment();
    in_scalar_part();
    const Instruction& i = *unit.instruction;
    const LlvmValue values = ir_.joined(variables(i.operands[2]));
    const int distance = int(*plan_.constant(i.operands[3]) & 31);
    const auto c = std::uint32_t(*plan_.constant(i.operands[4]));
    const int segment = int(c >> 8 & 31), clamp = int(c & 31);
    std::vector<int> from(lanes_per_warp);
    std::uint32_t in_range = 0;
    for (int lane = 0; lane < int(lanes_per_warp); ++lane) {
        const int first = lane & segment, last = first | (clamp & ~segment);
        const auto mode = ShuffleMode(i.detail);
        const int source = mode == ShuffleMode::up     ? lane - distance
                           : mode == ShuffleMode::down ? lane + distance
                           : mode == ShuffleMode::bfly ? lane ^ distance
                                                       : first | (distance & ~segment);
        const bool valid = mode == ShuffleMode::up ? source >= last : source <= last;
        from[std::size_t(lane)] = valid ? source : lane;
        in_range |= std::uint32_t(valid) << lane;
    }
    const LlvmValue result = ir_.shuffle(values, values, from);
    for (unsigned g = 0; g < group_count_; ++g)
        set_variable(i.operands[0], g, ir_.part(result, g * width_, width_));
    if (i.operands[1]) set_mask(i.operands[1], ir_.integer_of(32, in_range));
}

// Takes the unit's cost off the turn. True where some of the turn is left.
LlvmValue Generator::count(std::uint32_t u) {
    const LlvmType i64 = ir_.integer(64);
    const LlvmValue left =
        ir_.op(Ir::sub, ir_.load(i64, left_), plan_.units()[u].instruction->cost);
    ir_.store(left, left_);
    count_execution(u);
    return ir_.compare_with(Ir::sgt, left, 0);
}

// Tells the observer that the running lanes have executed a checkpoint; see ExecutionCounter.
void Generator::count_execution(std::uint32_t u) {
    if (!reports_ || plan_.units()[u].instruction->cost == 0) return;
    add_to_count(u, offsetof(ExecutionCount, warps), ir_.integer_of(64, 1));
    if (running_) add_to_count(u, offsetof(ExecutionCount, idle_lanes), idle_lanes_);
}

LlvmValue Generator::number_of_lanes(LlvmValue mask) const {
    return ir_.cast(Ir::zext, ir_.intrinsic("ctpop", ir_.integer(32), {mask}), ir_.integer(64));
}

void Generator::add_to_count(std::uint32_t u, std::size_t member, LlvmValue number) {
    const std::size_t pc = kernel_.index_of(plan_.units()[u].instruction);
    const LlvmValue count = ir_.at(executions_, pc * sizeof(ExecutionCount) + member);
    ir_.store(ir_.op(Ir::add, ir_.load(ir_.integer(64), count), number), count);
}

void Generator::checkpoint(std::uint32_t u) {
    close_segment();
    in_scalar_part();
    ir_.likely(count(u), way_to(u + 1), pause_before(u + 1));
    begin_segment(ir_.block("behind"));
}

// The lanes of `taken` skip arithmetic, which the others do: selections instead of a divergence.
// The interpreter counts the instructions of the others only.
void Generator::skip_arithmetic(std::uint32_t u, LlvmValue taken) {
    const std::uint32_t join = plan_.target_of(plan_.units()[u]);
    std::uint64_t skipped = 0;
    for (std::uint32_t k = u + 1; k < join; ++k) skipped += plan_.units()[k].instruction->cost;
    const LlvmType i64 = ir_.integer(64);
    const LlvmValue left =
        ir_.op(Ir::sub, ir_.load(i64, left_), plan_.units()[u].instruction->cost + skipped);
    const LlvmBlock enough = ir_.block();
    ir_.likely(ir_.compare_with(Ir::sgt, left, 0), enough, interpret(u));
    ir_.go_on_in(enough);
    ir_.store(left, left_);
    const LlvmValue counter = ir_.at(warp_, WarpLayout::thread_instructions);
    const LlvmValue lanes = number_of_lanes(taken);
    ir_.store(ir_.op(Ir::sub, ir_.load(i64, counter), ir_.op(Ir::mul, lanes, skipped)), counter);
    count_execution(u);
    if (reports_) add_to_count(u, offsetof(ExecutionCount, separations), ir_.integer_of(64, 1));
    for (std::uint32_t k = u + 1; k < join; ++k) {
        count_execution(k);
        if (reports_ && plan_.units()[k].instruction->cost > 0)
            add_to_count(k, offsetof(ExecutionCount, idle_lanes), lanes);
    }
    active_ = ir_.op(Ir::xor_, taken, running());
    begin_segment(enough);
    for (std::uint32_t k = u + 1; k < join; ++k)
        if (plan_.units()[k].kind == Unit::Kind::computes) compute(plan_.units()[k]);
    active_ = nullptr;
    close_segment();
    in_scalar_part();
    ir_.jump(way_to(join));
}

// Lanes that disagree are left to the interpreter, unless they only skip arithmetic.
void Generator::branch(std::uint32_t u) {
    close_segment();
    in_scalar_part();
    const Unit& unit = plan_.units()[u];
    const std::uint32_t target = plan_.target_of(unit);
    if (unit.instruction->role == Role::branch) {
        ir_.likely(count(u), way_to(target), pause_before(target));
        return begin_segment(ir_.block("behind"));
    }
    const LlvmValue taken = condition(*unit.instruction);
    const LlvmValue all = ir_.compare(Ir::eq, taken, running());
    const LlvmValue agree = ir_.op(Ir::or_, all, ir_.compare_with(Ir::eq, taken, 0));
    const LlvmBlock together = ir_.block(), going = ir_.block(), pausing = ir_.block();
    const bool skips = plan_.skips_arithmetic(u);
    const LlvmBlock apart = skips ? ir_.block("apart") : interpret(u);
    if (skips)
        ir_.branch(agree, together, apart);
    else
        ir_.likely(agree, together, apart);
    ir_.go_on_in(together);
    ir_.likely(count(u), going, pausing);
    ir_.go_on_in(going);
    ir_.branch(all, way_to(target), way_to(u + 1));
    ir_.go_on_in(pausing);
    ir_.branch(all, pause_before(target), pause_before(u + 1));
    if (skips) {
        ir_.go_on_in(apart);
        skip_arithmetic(u, taken);
    }
    begin_segment(ir_.block("behind"));
}

}  // namespace warpscope::emulator
