#pragma once

#include <vector>

#include "emulator/fast_paths/compiled/plan/units.h"
#include "emulator/fast_paths/compiled/plan/variables.h"

namespace warpscope::emulator {

/// Loads of shared memory from one address, or from one address of each lane, each with an offset
/// of its own. One check covers them: code that comes to a later one has passed the first one, or
/// has begun between them.
struct LoadGroup {
    std::uint32_t first = 0, last = 0;         ///< units of the first and of the last load
    const Instruction* instruction = nullptr;  ///< the first load
    unsigned bytes = 0;                        ///< each load moves them, for a lane
    std::int64_t low = 0, high = 0;            ///< the lowest and the highest offset

    /// The operand of the address, without an offset.
    std::uint32_t address() const { return instruction->operands[instruction->detail]; }
};

/// The load groups of a kernel.
class LoadGroups {
  public:
    explicit LoadGroups(const Units& units);

    /// The group of a load; nullptr for one that is in none.
    const LoadGroup* of(std::uint32_t unit) const;
    /// The group whose first load lies before the unit, and another one at or behind it; or
    /// nullptr.
    const LoadGroup* around(std::uint32_t unit) const;

  private:
    const LoadGroup* next_end(std::uint32_t unit) const;

    std::vector<bool> is_grouped_;   ///< by unit
    std::vector<LoadGroup> groups_;  ///< in their order; none overlaps another one
};

/// The loops that have no other loop within, and in which compiled code does not end.
struct TightLoops {
    TightLoops(const Units& units, const Variables& variables, const Liveness& liveness);

    std::vector<std::uint32_t> around;  ///< by unit: the number of the loop; 0: none
    std::vector<NumberSet> written;     ///< by loop: the numbers of the variables that it writes
};

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

/// Units that are compiled as one function.
struct Part {
    std::uint32_t begin = 0, end = 0;  ///< indices into CompilationPlan::units()
    unsigned effort = 0;               ///< about how long it is compiled, in steps of 20 µs
};

/// A single part of all units.
Part whole(const CompilationPlan& plan);
/// The parts that are compiled at the same time, in their order: one, or up to six if that takes
/// long. They begin at leaders outside of tight loops.
std::vector<Part> divide_into_parts(const CompilationPlan& plan);

}  // namespace warpscope::emulator
