#include "emulator/fast_paths/compiled/generate/generator.h"

#include "emulator/fast_paths/compiled/generate/entries.h"

namespace warpscope::emulator {

Generator::Generator(Ir& ir, const CompilationPlan& plan, const Part& part, const Instruction* code,
                     unsigned lanes, bool has_fma, bool reports)
    : context_(ir, plan, code, lanes, reports),
      ir_(ir),
      part_(part),
      slots_(context_),
      turn_(context_),
      exits_(context_, part, slots_, turn_),
      addresses_(context_, slots_, exits_),
      accesses_(context_, slots_, addresses_, exits_),
      computations_(context_, slots_, has_fma) {}

void Generator::write() {
    slots_.declare_variables();
    exits_.declare_variables();
    context_.load_warp();
    addresses_.begin();
    turn_.begin();
    write_entries(context_, part_, slots_, addresses_, exits_);
    for (std::uint32_t u = part_.begin; u < part_.end; ++u) write_unit(u);
    end_part();
    exits_.write();
}

void Generator::write_unit(std::uint32_t u) {
    if (context_.unit(u).is_leader) {
        slots_.close_segment();
        ir_.jump(exits_.way_to(u));
        slots_.begin_leader(exits_.leader(u));
        context_.loop = context_.plan.loop(u);
    }
    const Unit& unit = context_.unit(u);
    switch (unit.kind) {
        case Unit::Kind::computes:
            return computations_.compute(unit);
        case Unit::Kind::loads:
        case Unit::Kind::stores:
            accesses_.write(u);
            return end_at_cost_point(u);
        case Unit::Kind::shuffles:
            computations_.shuffle(unit);
            return end_at_cost_point(u);
        case Unit::Kind::passes:
            if (context_.reports && (unit.instruction->events & Instruction::fences))
                return leave(u);
            if (unit.instruction->cost > 0) end_at_cost_point(u);
            return;
        case Unit::Kind::branches:
            return branch(u);
        case Unit::Kind::waits:
        case Unit::Kind::leaves:
            return leave(u);
    }
}

// What follows is reached from leaders only.
void Generator::leave(std::uint32_t u) {
    slots_.close_segment();
    ir_.jump(exits_.interpret(u));
    slots_.begin_segment(ir_.block("behind"));
}

void Generator::end_at_cost_point(std::uint32_t u) {
    slots_.close_segment();
    ir_.likely(turn_.is_left_after(u), exits_.way_to(u + 1), exits_.pause_before(u + 1));
    slots_.begin_segment(ir_.block("behind"));
}

// Where the lanes disagree, the interpreter runs the branch, unless some of them only skip
// arithmetic.
void Generator::branch(std::uint32_t u) {
    slots_.close_segment();
    const Unit& unit = context_.unit(u);
    const std::uint32_t target = context_.plan.units().target_of(unit);
    if (unit.instruction->role == Role::branch) {
        ir_.likely(turn_.is_left_after(u), exits_.way_to(target), exits_.pause_before(target));
        return slots_.begin_segment(ir_.block("behind"));
    }
    const LlvmValue taken = slots_.condition(*unit.instruction);
    const LlvmValue all = ir_.compare(Ir::eq, taken, context_.running_mask());
    const LlvmValue agree = ir_.op(Ir::or_, all, ir_.compare_with(Ir::eq, taken, 0));
    const LlvmBlock together = ir_.block(), going = ir_.block(), pausing = ir_.block();
    const bool skips = context_.plan.units().skips_arithmetic(u);
    const LlvmBlock apart = skips ? ir_.block("apart") : exits_.interpret(u);
    if (skips)
        ir_.branch(agree, together, apart);
    else
        ir_.likely(agree, together, apart);
    ir_.go_on_in(together);
    ir_.likely(turn_.is_left_after(u), going, pausing);
    ir_.go_on_in(going);
    ir_.branch(all, exits_.way_to(target), exits_.way_to(u + 1));
    ir_.go_on_in(pausing);
    ir_.branch(all, exits_.pause_before(target), exits_.pause_before(u + 1));
    if (skips) {
        ir_.go_on_in(apart);
        skip_arithmetic(u, taken);
    }
    slots_.begin_segment(ir_.block("behind"));
}

// The lanes of `taken` skip arithmetic, and the others compute: each result is selected, so that no
// lanes need to be separated.
void Generator::skip_arithmetic(std::uint32_t u, LlvmValue taken) {
    const std::uint32_t join = context_.plan.units().target_of(context_.unit(u));
    std::uint64_t skipped = 0;
    for (std::uint32_t k = u + 1; k < join; ++k) skipped += context_.unit(k).instruction->cost;
    const LlvmValue left = turn_.left_after(context_.unit(u).instruction->cost + skipped);
    const LlvmBlock enough = ir_.block();
    ir_.likely(ir_.compare_with(Ir::sgt, left, 0), enough, exits_.interpret(u));
    ir_.go_on_in(enough);
    turn_.set_left(left);
    turn_.count_skip(u, join, skipped, taken);
    const LlvmValue active = ir_.op(Ir::xor_, taken, context_.running_mask());
    slots_.begin_segment(enough);
    for (std::uint32_t k = u + 1; k < join; ++k)
        if (context_.unit(k).kind == Unit::Kind::computes)
            computations_.compute(context_.unit(k), active);
    slots_.close_segment();
    ir_.jump(exits_.way_to(join));
}

// Control flow never runs off the end of the kernel.
void Generator::end_part() {
    slots_.close_segment();
    if (part_.end == context_.plan.units().size())
        ir_.llvm().BuildUnreachable(ir_.builder());
    else
        ir_.jump(exits_.way_to(part_.end));
}

}  // namespace warpscope::emulator
