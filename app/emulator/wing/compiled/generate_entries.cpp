#include "emulator/wing/compiled/generator.h"
#include "emulator/wing/compiled/warp_layout.h"

// Where the interpreter enters compiled code.
namespace warpscope::emulator {

// Code that begins between the loads of a group has not passed the check of the first one.
void Generator::write_entries() {
    const LlvmBlock original = ir_.block("original");
    if (plan_.mode() == Instruction::full) {
        const LlvmBlock full = ir_.block("full");
        const LlvmValue mode = ir_.load(ir_.integer(32), ir_.at(warp_, WarpLayout::mode));
        ir_.likely(ir_.compare_with(Ir::eq, mode, Instruction::full), full, original);
        ir_.go_on_in(full);
    }
    const LlvmValue number = entry_number();
    const LlvmBlock begin = ir_.here(), never = ir_.block("no_entry");
    ir_.go_on_in(never);
    ir_.llvm().BuildUnreachable(ir_.builder());
    ir_.go_on_in(original);
    run_original();

    std::map<const LoadGroup*, std::vector<std::uint32_t>> entries;  // nullptr: in no group
    for (std::uint32_t u = part_.begin; u < part_.end; ++u)
        if (plan_.is_entry()[u]) entries[plan_.load_group_around(u)].push_back(u);
    const auto choose = [&] { return ir_.llvm().BuildSwitch(ir_.builder(), number, never, 0); };
    ir_.go_on_in(begin);
    const LlvmValue choice = choose();
    for (const auto& [group, units] : entries) {
        LlvmValue choice_in_group = choice;
        if (group) {
            const LlvmBlock check = ir_.block("check"), valid = ir_.block();
            for (const std::uint32_t u : units) add_entry(choice, u, check);
            begin_segment(check);
            in_scalar_part();
            if (!plan_.constant(group->address())) fill(group->address());
            if (is_uniform(group->address())) {
                ir_.likely(has_places(*group), valid, original);
            } else {
                check_lanes(*group);
                ir_.jump(valid);
            }
            ir_.go_on_in(valid);
            choice_in_group = choose();
        }
        for (const std::uint32_t u : units) add_entry(choice_in_group, u, fill_before(u));
    }
    begin_segment(ir_.block("unused"));
}

void Generator::add_entry(LlvmValue choice, std::uint32_t u, LlvmBlock block) const {
    const std::uint16_t number = code_[plan_.units()[u].begin].entry;
    ir_.llvm().AddCase(choice, ir_.integer_of(16, number), block);
}

// A block that loads what is live, and goes to the unit.
LlvmBlock Generator::fill_before(std::uint32_t u) {
    const LlvmBlock filling = ir_.block("fill");
    ir_.go_on_in(filling);
    for (const std::uint32_t operand : plan_.live(u))
        if (plan_.variables().at(operand).place == SlotVariable::Place::variable) fill(operand);
    ir_.jump(begin_in_loop(u));
    return filling;
}

// Where a turn begins, the warp has the number: less to wait for than the instruction's.
LlvmValue Generator::entry_number() {
    const LlvmType i16 = ir_.integer(16), pointer = ir_.pointer();
    const LlvmBlock at_begin = ir_.block("turn_begins"), within = ir_.block("in_turn"),
                    found = ir_.block();
    const LlvmValue stopped_at = ir_.load(pointer, ir_.at(warp_, WarpLayout::stopped_at));
    ir_.likely(ir_.compare(Ir::eq, stopped_at, instruction_), at_begin, within);
    ir_.go_on_in(at_begin);
    const LlvmValue of_warp = ir_.load(i16, ir_.at(warp_, WarpLayout::entry), 2);
    ir_.jump(found);
    ir_.go_on_in(within);
    const LlvmValue own = entry_of_instruction();
    ir_.jump(found);
    ir_.go_on_in(found);
    return ir_.phi(i16, {{of_warp, at_begin}, {own, within}});
}

LlvmValue Generator::entry_of_instruction() const {
    return ir_.load(ir_.integer(16), ir_.at(instruction_, offsetof(Instruction, entry)), 2);
}

// The handler for some lanes of a warp (masked_handler()) calls the one for all lanes: that one
// must be the kernel's own.
void Generator::run_original() {
    const LlvmValue offset = ir_.op(Ir::sub, ir_.cast(Ir::ptrtoint, instruction_, ir_.integer(64)),
                                    reinterpret_cast<std::uint64_t>(code_));
    const LlvmValue original = ir_.at(ir_.address(kernel_.code.data()), offset);
    go_to(ir_.load(ir_.pointer(), ir_.at(original, plan_.mode() * sizeof(Handler))));
}

}  // namespace warpscope::emulator
