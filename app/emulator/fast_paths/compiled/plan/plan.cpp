#include "emulator/fast_paths/compiled/plan/plan.h"

namespace warpscope::emulator {

CompilationPlan::CompilationPlan(const Kernel& kernel, Instruction::Mode mode, bool is_watched)
    : units_(kernel, mode, is_watched),
      variables_(units_),
      liveness_(units_, variables_),
      loops_(units_, variables_, liveness_),
      load_groups_(units_) {
    choose_places(units_, liveness_, loops_, variables_);
}

Operands CompilationPlan::live_in_loop(std::uint32_t unit) const {
    if (loop(unit) == 0) return {};
    return variables_.operands_of(
        variables_.placed(liveness_.live[unit], SlotVariable::Place::slot_outside_loops));
}

NumberSet CompilationPlan::leaves_loop(std::uint32_t loop, std::uint32_t next) const {
    return variables_.placed(liveness_.live[next] & loops_.written[loop],
                             SlotVariable::Place::slot_outside_loops);
}

Operands CompilationPlan::written_in_loop(std::uint32_t loop, std::uint32_t next) const {
    return variables_.operands_of(leaves_loop(loop, next));
}

Operands CompilationPlan::unsaved(std::uint32_t loop, std::uint32_t next) const {
    const NumberSet written = liveness_.live[next] & liveness_.written[next];
    return variables_.operands_of(variables_.placed(written, SlotVariable::Place::variable) |
                                  leaves_loop(loop, next));
}

}  // namespace warpscope::emulator
