#pragma once

#include "emulator/fast_paths/compiled/plan/liveness.h"
#include "emulator/fast_paths/compiled/plan/load_groups.h"
#include "emulator/fast_paths/compiled/plan/places.h"

namespace warpscope::emulator {

/// All that is found out about a kernel before code is written for it.
class CompilationPlan {
  public:
    CompilationPlan(const Kernel& kernel, Instruction::Mode mode, bool is_watched);

    const Kernel& kernel() const { return units_.kernel(); }
    Instruction::Mode mode() const { return units_.mode(); }
    const Units& units() const { return units_; }
    const std::uint64_t* constant(std::uint32_t operand) const { return units_.constant(operand); }
    const std::map<std::uint32_t, SlotVariable>& variables() const {
        return variables_.by_operand();
    }
    const LoadGroups& load_groups() const { return load_groups_; }
    /// The number of the tight loop around a unit; 0: none. See TightLoops.
    std::uint32_t loop(std::uint32_t unit) const { return loops_.around[unit]; }

    /// The variables that a unit, or one behind it, reads before it writes them.
    Operands live(std::uint32_t unit) const { return variables_.operands_of(liveness_.live[unit]); }
    /// The live variables that lie in their slots outside of tight loops, where the unit is in one.
    Operands live_in_loop(std::uint32_t unit) const;
    /// The variables that a tight loop writes, that lie in their slots outside of it, and that are
    /// live behind it, at the unit `next`.
    Operands written_in_loop(std::uint32_t loop, std::uint32_t next) const;
    /// The variables that compiled code may have written since it began, but not to their slots,
    /// and that are live at `next`, to which it goes from a tight loop, or from outside of them
    /// (0).
    Operands unsaved(std::uint32_t loop, std::uint32_t next) const;

  private:
    NumberSet leaves_loop(std::uint32_t loop, std::uint32_t next) const;

    Units units_;
    Variables variables_;
    Liveness liveness_;
    TightLoops loops_;
    LoadGroups load_groups_;
};

}  // namespace warpscope::emulator
