#include "emulator/compiled/generate/entries.h"

#include "emulator/compiled/warp_layout.h"

namespace warpscope::emulator {

// Code that begins between the loads of a group has not passed the check of the first one.
void Entries::write() {
    const LlvmBlock original = ir_.block("original");
    if (context_.plan.mode() == Instruction::full) {
        const LlvmBlock full = ir_.block("full");
        const LlvmValue mode = context_.warp_member(ir_.integer(32), WarpLayout::mode);
        ir_.likely(ir_.compare_with(Ir::eq, mode, Instruction::full), full, original);
        ir_.go_on_in(full);
    }
    const LlvmValue number = entry_number();
    const LlvmBlock begin = ir_.here(), never = ir_.block("no_entry");
    ir_.go_on_in(never);
    ir_.llvm().BuildUnreachable(ir_.builder());
    ir_.go_on_in(original);
    context_.run_original();

    std::map<const LoadGroup*, std::vector<std::uint32_t>> entries;  // nullptr: in no group
    for (std::uint32_t u = part_.begin; u < part_.end; ++u)
        if (context_.unit(u).is_entry) entries[context_.plan.load_groups().around(u)].push_back(u);
    const auto choose = [&] { return ir_.llvm().BuildSwitch(ir_.builder(), number, never, 0); };
    ir_.go_on_in(begin);
    const LlvmValue choice = choose();
    for (const auto& [group, units] : entries) {
        LlvmValue choice_in_group = choice;
        if (group) {
            const LlvmBlock check = ir_.block("check"), valid = ir_.block();
            for (const std::uint32_t u : units) add_entry(choice, u, check);
            slots_.begin_segment(check);
            context_.segment.go_on_in_scalar_part();
            if (!context_.plan.constant(group->address())) slots_.fill(group->address());
            if (is_uniform(group->address())) {
                ir_.likely(addresses_.group_is_valid(*group), valid, original);
            } else {
                addresses_.check_group(*group);
                ir_.jump(valid);
            }
            ir_.go_on_in(valid);
            choice_in_group = choose();
        }
        for (const std::uint32_t u : units) add_entry(choice_in_group, u, fill_before(u));
    }
    slots_.begin_segment(ir_.block("unused"));
}

void Entries::add_entry(LlvmValue choice, std::uint32_t u, LlvmBlock block) const {
    const std::uint16_t number = context_.code[context_.unit(u).begin].entry;
    ir_.llvm().AddCase(choice, ir_.integer_of(16, number), block);
}

// A block that loads what is live, and goes to the unit.
LlvmBlock Entries::fill_before(std::uint32_t u) {
    const LlvmBlock filling = ir_.block("fill");
    ir_.go_on_in(filling);
    for (const std::uint32_t operand : context_.plan.live(u))
        if (context_.plan.variables().at(operand).place == SlotVariable::Place::variable)
            slots_.fill(operand);
    ir_.jump(exits_.from_outside_loops(u));
    return filling;
}

// Where a turn begins, the warp has the number: less to wait for than the instruction's.
LlvmValue Entries::entry_number() const {
    const LlvmBlock at_begin = ir_.block("turn_begins"), within = ir_.block("in_turn"),
                    found = ir_.block();
    const LlvmValue stopped_at = context_.warp_member(ir_.pointer(), WarpLayout::stopped_at);
    ir_.likely(ir_.compare(Ir::eq, stopped_at, context_.instruction), at_begin, within);
    ir_.go_on_in(at_begin);
    const LlvmType i16 = ir_.integer(16);
    const LlvmValue of_warp = ir_.load(i16, ir_.at(context_.warp, WarpLayout::entry), 2);
    ir_.jump(found);
    ir_.go_on_in(within);
    const LlvmValue own = context_.entry_of_instruction();
    ir_.jump(found);
    ir_.go_on_in(found);
    return ir_.phi(i16, {{of_warp, at_begin}, {own, within}});
}

}  // namespace warpscope::emulator
