#include "emulator/fast_paths/compiled/generate/generator.h"

#include "emulator/fast_paths/compiled/compiled_kernel.h"
#include "emulator/fast_paths/compiled/warp_layout.h"
#include "emulator/handlers/handlers.h"

namespace warpscope::emulator {

void Computations::compute(const Unit& unit, LlvmValue active) {
    const Instruction& i = *unit.instruction;
    if (i.type == Type::pred) return compute_mask(unit);
    bool is_scalar = is_uniform(i.operands[0]);
    if (operand_type(i, 0) == Type::pred)
        is_scalar = is_uniform(i.operands[1]) && is_uniform(i.operands[2]);
    is_scalar ? compute_scalar(unit) : compute_lanes(unit, active);
}

// Logic on predicates works on masks of 32 lanes.
void Computations::compute_mask(const Unit& unit) {
    const Instruction& i = *unit.instruction;
    slots_.settle_predicates();
    context_.segment.go_on_in_scalar_part();
    LlvmValue sources[2] = {};
    for (unsigned k = 0; k < source_count(i); ++k) sources[k] = slots_.mask(i.operands[k + 1]);
    const LlvmValue result = unit.make(arithmetics_, i, sources);
    if (unit.guard)
        slots_.set_mask_where(slots_.condition(*unit.guard), i.operands[0], result);
    else
        slots_.set_mask(i.operands[0], result);
}

void Computations::compute_scalar(const Unit& unit) {
    const Instruction& i = *unit.instruction;
    slots_.settle_predicates();
    LlvmValue sources[4] = {};
    for (unsigned k = 0; k < source_count(i); ++k)
        sources[k] = slots_.scalar(i.operands[k + 1], operand_type(i, k + 1));
    context_.segment.go_on_in_scalar_part();
    LlvmValue result = unit.make(arithmetics_, i, sources);
    context_.segment.set_scalar_part();
    const LlvmValue active = unit.guard ? slots_.condition(*unit.guard) : nullptr;
    if (operand_type(i, 0) == Type::pred) {
        result = ir_.cast(Ir::sext, result, ir_.integer(32));
        if (active) return slots_.set_mask_where(active, i.operands[0], result);
        return slots_.set_mask(i.operands[0], result);
    }
    if (active)
        result = ir_.select(ir_.compare_with(Ir::ne, active, 0), result,
                            slots_.scalar(i.operands[0], operand_type(i, 0)));
    slots_.set_scalar(i.operands[0], result);
}

// LLVM spends time on the bits that it knows of a constant mask, and gains nothing by it. So masks
// are loaded from memory.
LlvmValue Computations::source(const Instruction& i, unsigned k, unsigned g) {
    const LlvmValue value = slots_.lanes(i.operands[k], operand_type(i, k), g);
    const bool is_mask = i.operation == Operation::and_ || i.operation == Operation::or_ ||
                         i.operation == Operation::xor_;
    return is_mask && context_.plan.constant(i.operands[k]) ? ir_.in_memory(value) : value;
}

void Computations::compute_lanes(const Unit& unit, LlvmValue active) {
    const Instruction& i = *unit.instruction;
    const bool is_predicate = operand_type(i, 0) == Type::pred;
    const auto before = [&](unsigned g) {
        return slots_.lanes(i.operands[0], operand_type(i, 0), g);
    };
    Lanes results;
    for (unsigned g = 0; g < context_.group_count; ++g) {
        LlvmValue sources[4] = {};
        for (unsigned k = 0; k < source_count(i); ++k) sources[k] = source(i, k + 1, g);
        context_.segment.go_on_in_group(g);
        LlvmValue result = unit.make(arithmetics_, i, sources);
        context_.segment.set_group(g);
        if (active) {
            const LlvmValue lanes = context_.lanes_of_mask(active, g);
            result = ir_.select(lanes, result, before(g));
        }
        if (unit.guard) {
            LlvmValue lanes = slots_.lanes(unit.guard->operands[0], Type::pred, g);
            if (unit.guard->role == Role::guard_not) lanes = ir_.not_(lanes);
            result = ir_.select(lanes, result, before(g));
        }
        if (is_predicate)
            results.push_back(result);
        else
            slots_.set_lanes(i.operands[0], result, g);
    }
    if (is_predicate) slots_.set_lanes_of_predicate(i.operands[0], std::move(results));
}

// shfl.sync of all lanes by a constant distance within constant segments (PTX ISA 9.7.9.6).
void Computations::shuffle(const Unit& unit) {
    slots_.close_segment();
    const Instruction& i = *unit.instruction;
    const LlvmValue values = ir_.joined(slots_.parts(i.operands[2]));
    const int distance = int(*context_.plan.constant(i.operands[3]) & 31);
    const auto c = std::uint32_t(*context_.plan.constant(i.operands[4]));
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
    const unsigned width = context_.width;
    for (unsigned g = 0; g < context_.group_count; ++g)
        slots_.set_lanes(i.operands[0], ir_.part(result, g * width, width), g);
    if (i.operands[1]) slots_.set_mask(i.operands[1], ir_.integer_of(32, in_range));
}

namespace {

/// The number of the entry at which the function was called: an i16.
LlvmValue entry_of_instruction(const FunctionContext& context) {
    return context.ir.load(context.ir.integer(16),
                           context.ir.at(context.instruction, offsetof(Instruction, entry)), 2);
}

// The handler for some lanes of a warp (masked_handler()) calls the one for all lanes: that one
// must be the kernel's own.
void run_original(const FunctionContext& context) {
    const Ir& ir = context.ir;
    const LlvmValue offset =
        ir.op(Ir::sub, ir.cast(Ir::ptrtoint, context.instruction, ir.integer(64)),
              reinterpret_cast<std::uint64_t>(context.code));
    const LlvmValue original = ir.at(ir.address(context.kernel().code.data()), offset);
    context.go_to(ir.load(ir.pointer(), ir.at(original, context.plan.mode() * sizeof(Handler))),
                  context.instruction);
}

// At the beginning of a turn the warp has the number, so that nothing waits for the instruction.
LlvmValue entry_number(const FunctionContext& context) {
    const Ir& ir = context.ir;
    const LlvmBlock at_begin = ir.block("turn_begins"), within = ir.block("in_turn"),
                    found = ir.block();
    const LlvmValue stopped_at = context.warp_member(ir.pointer(), WarpLayout::stopped_at);
    ir.likely(ir.compare(Ir::eq, stopped_at, context.instruction), at_begin, within);
    ir.go_on_in(at_begin);
    const LlvmType i16 = ir.integer(16);
    const LlvmValue of_warp = ir.load(i16, ir.at(context.warp, WarpLayout::entry), 2);
    ir.jump(found);
    ir.go_on_in(within);
    const LlvmValue own = entry_of_instruction(context);
    ir.jump(found);
    ir.go_on_in(found);
    return ir.phi(i16, {{of_warp, at_begin}, {own, within}});
}

void add_entry(const FunctionContext& context, LlvmValue choice, std::uint32_t u, LlvmBlock block) {
    const std::uint16_t number = context.code[context.unit(u).begin].entry;
    context.ir.llvm().AddCase(choice, context.ir.integer_of(16, number), block);
}

// A block that loads what is live, and goes to the unit.
LlvmBlock fill_before(const FunctionContext& context, std::uint32_t u, Slots& slots, Exits& exits) {
    const LlvmBlock filling = context.ir.block("fill");
    context.ir.go_on_in(filling);
    for (const std::uint32_t operand : context.plan.live(u))
        if (context.plan.variables().at(operand).place == SlotVariable::Place::variable)
            slots.fill(operand);
    context.ir.jump(exits.from_outside_loops(u));
    return filling;
}

void count_missed(LateCode& late) {
    late.missed.fetch_add(1, std::memory_order_relaxed);
}

/// Writes the code by which the interpreter enters a function: it finds out at which unit, checks
/// the addresses that the unit relies on, and fills the variables that are live there. It goes on
/// where the function's first block ends.
// Code that begins between the loads of a group has not passed the check of the first one.
void write_entries(FunctionContext& context, const Part& part, Slots& slots, Addresses& addresses,
                   Exits& exits) {
    const Ir& ir = context.ir;
    const LlvmBlock original = ir.block("original");
    if (context.plan.mode() == Instruction::full) {
        const LlvmBlock full = ir.block("full");
        const LlvmValue mode = context.warp_member(ir.integer(32), WarpLayout::mode);
        ir.likely(ir.compare_with(Ir::eq, mode, Instruction::full), full, original);
        ir.go_on_in(full);
    }
    const LlvmValue number = entry_number(context);
    const LlvmBlock begin = ir.here(), never = ir.block("no_entry");
    ir.go_on_in(never);
    ir.llvm().BuildUnreachable(ir.builder());
    ir.go_on_in(original);
    run_original(context);

    std::map<const LoadGroup*, std::vector<std::uint32_t>> entries;  // nullptr: in no group
    for (std::uint32_t u = part.begin; u < part.end; ++u)
        if (context.unit(u).is_entry) entries[context.plan.load_groups().around(u)].push_back(u);
    const auto choose = [&] { return ir.llvm().BuildSwitch(ir.builder(), number, never, 0); };
    ir.go_on_in(begin);
    const LlvmValue choice = choose();
    for (const auto& [group, units] : entries) {
        LlvmValue choice_in_group = choice;
        if (group) {
            const LlvmBlock check = ir.block("check"), valid = ir.block();
            for (const std::uint32_t u : units) add_entry(context, choice, u, check);
            slots.begin_segment(check);
            context.segment.go_on_in_scalar_part();
            if (!context.plan.constant(group->address())) slots.fill(group->address());
            if (is_uniform(group->address())) {
                ir.likely(addresses.group_is_valid(*group), valid, original);
            } else {
                addresses.check_group(*group);
                ir.jump(valid);
            }
            ir.go_on_in(valid);
            choice_in_group = choose();
        }
        for (const std::uint32_t u : units)
            add_entry(context, choice_in_group, u, fill_before(context, u, slots, exits));
    }
    slots.begin_segment(ir.block("unused"));
}

}  // namespace

void write_call_of(LateCode& late, const FunctionContext& context) {
    const Ir& ir = context.ir;
    const LlvmBlock there = ir.block("there"), missing = ir.block("missing");
    const LlvmValue handlers = ir.load_acquired(ir.pointer(), ir.address(&late.handlers));
    ir.likely(ir.compare(Ir::ne, handlers, ir.zero(ir.pointer())), there, missing);
    ir.go_on_in(there);
    const LlvmValue entry = ir.cast(Ir::zext, entry_of_instruction(context), ir.integer(64));
    const LlvmValue handler = ir.at(handlers, ir.op(Ir::mul, entry, sizeof(Handler)));
    context.go_to(ir.load(ir.pointer(), handler), context.instruction);
    ir.go_on_in(missing);
    ir.call(reinterpret_cast<const void*>(&count_missed), ir.nothing(), {ir.address(&late)});
    run_original(context);
}

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
