#include "emulator/fast_paths/compiled/generate/entries.h"

#include "emulator/fast_paths/compiled/generate/late_code.h"
#include "emulator/fast_paths/compiled/warp_layout.h"

namespace warpscope::emulator {

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

}  // namespace

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

}  // namespace warpscope::emulator
