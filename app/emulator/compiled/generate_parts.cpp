#include "emulator/compiled/generator.h"

// What leads from one part of a plan to another.
namespace warpscope::emulator {

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

}  // namespace warpscope::emulator
