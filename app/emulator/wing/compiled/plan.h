#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "emulator/program/module.h"
#include "emulator/wing/compiled/arithmetic.h"
#include "emulator/wing/compiled/number_set.h"

namespace warpscope::emulator {

/// An instruction with its prefixes, which run as one.
struct Unit {
    enum class Kind : std::uint8_t {
        computes,
        loads,
        stores,
        shuffles,
        passes,  ///< nothing to do but to count: a join, a hint
        branches,
        waits,  ///< at a barrier of the block
        leaves  ///< the interpreter runs it
    };
    std::uint32_t begin = 0, end = 0;  ///< indices into Kernel::code
    Kind kind = Kind::leaves;
    const Instruction* guard = nullptr;
    const Instruction* instruction = nullptr;
    Arithmetics::Make make = nullptr;  ///< of one that computes
    bool ends_compiled_code() const { return kind == Kind::waits || kind == Kind::leaves; }
};

/// A slot of the register file that compiled code keeps in variables of its own.
struct SlotVariable {
    enum class Kind : std::uint8_t { predicate, word, double_word };
    Kind kind = Kind::word;
    bool written = false;  ///< by a compiled instruction
    /// Where the value lies. What lies in a slot is loaded where it is read.
    enum class Place : std::uint8_t {
        variable,  ///< loaded where compiled code begins, stored where it ends
        slot,
        slot_outside_loops  ///< in a variable within each tight loop; see Plan::loop()
    };
    Place place = Place::variable;
    std::uint32_t number = 0;  ///< among the plan's variables
    unsigned bits() const { return kind == Kind::double_word ? 64 : 32; }
};

/// Loads of shared memory from one address, or from one address of each lane, each with an offset
/// of its own. One check covers them: code that comes to a later one has passed the first one, or
/// has begun between them.
struct LoadGroup {
    std::uint32_t first = 0, last = 0;         ///< units of the first and of the last load
    const Instruction* instruction = nullptr;  ///< of the first
    unsigned bytes = 0;                        ///< of each load
    std::int64_t low = 0, high = 0;            ///< the lowest and the highest offset

    /// Operand, without an offset.
    std::uint32_t address() const { return instruction->operands[instruction->detail]; }
};

/// Units that are compiled as one function.
struct Part {
    std::uint32_t begin = 0, end = 0;  ///< indices into Plan::units()
    unsigned effort = 0;               ///< about how long it is compiled, in steps of 20 µs
};

/// How a kernel is divided into what is compiled and what is left to the interpreter, and which
/// slots are live where.
class Plan {
  public:
    using Slots = std::vector<std::uint32_t>;  ///< operands as in Instruction::operands, sorted

    /// `mode`: for all lanes of a warp; or for some of them, which only the loops that separate
    /// lanes are compiled for.
    Plan(const Kernel& kernel, Instruction::Mode mode);

    const Kernel& kernel() const { return kernel_; }
    Instruction::Mode mode() const { return mode_; }
    /// By unit: it is in a loop, between a branch that separates lanes and where they join, so that
    /// it may often run for some of them.
    std::vector<bool> in_separated_loops() const;
    const std::vector<Unit>& units() const { return units_; }
    /// Compiled code begins at these units: the interpreter enters it there.
    const std::vector<bool>& is_entry() const { return is_entry_; }
    /// Entries and the targets of branches.
    const std::vector<bool>& is_leader() const { return is_leader_; }
    /// All units.
    Part whole() const { return part(0, std::uint32_t(units_.size())); }
    /// Parts that are compiled at the same time, in their order: one, or up to six if that takes
    /// long. They begin at leaders outside of tight loops.
    std::vector<Part> parts() const;
    /// The index of the unit that begins at an index into Kernel::code.
    std::uint32_t unit_at(std::uint32_t code) const { return unit_of_[code]; }
    std::uint32_t target_of(const Unit& branch) const;
    /// True where a branch only skips some arithmetic, up to the join at its target: lanes that
    /// disagree then need not be separated.
    bool skips_arithmetic(std::uint32_t branch) const;

    /// The variables that a unit, or one behind it, reads before it writes them.
    Slots live(std::uint32_t unit) const { return slots_of(live_[unit]); }
    /// The number of the tight loop around a unit: one that has no other loop within, and in which
    /// compiled code does not end. 0: none.
    std::uint32_t loop(std::uint32_t unit) const { return loops_[unit]; }
    /// The live variables that lie in their slots outside of tight loops, where the unit is in one.
    Slots live_in_loop(std::uint32_t unit) const;
    /// Those that a tight loop writes and that are live behind it, at the unit `next`.
    Slots written_in_loop(std::uint32_t loop, std::uint32_t next) const;
    /// The variables that compiled code may have written since it began, but not to their slots,
    /// and that are live at `next`, to which it goes from a tight loop; 0: from outside of them.
    Slots unsaved(std::uint32_t loop, std::uint32_t next) const;
    /// That of a load; nullptr for one that is in none.
    const LoadGroup* load_group_of(std::uint32_t unit) const;
    /// The group whose first load lies before the unit, and another one at or behind it; or
    /// nullptr.
    const LoadGroup* load_group_around(std::uint32_t unit) const;
    const std::map<std::uint32_t, SlotVariable>& variables() const { return variables_; }
    /// The value of a constant slot; nullptr for others.
    const std::uint64_t* constant(std::uint32_t operand) const;

  private:
    void divide();
    bool is_compiled_barrier(const Unit& unit) const;
    Unit::Kind kind_of(const Unit& unit) const;
    std::vector<bool> in_loops() const;
    std::set<std::uint32_t> predicates_that_differ() const;
    void find_variables();
    void find_leaders();
    void find_uses();
    void find_live();
    void find_written();
    void choose_places();
    void find_tight_loops();
    bool may_be_grouped(const Unit& unit) const;
    void find_load_groups();
    const LoadGroup* group_that_ends_behind(std::uint32_t unit) const;
    std::uint32_t number_of(std::uint32_t operand) const { return variables_.at(operand).number; }
    Slots slots_of(const NumberSet& set) const;
    NumberSet placed(const NumberSet& set, SlotVariable::Place place) const;
    NumberSet leaves_loop(std::uint32_t loop, std::uint32_t next) const;
    unsigned effort(std::uint32_t unit) const;
    Part part(std::uint32_t begin, std::uint32_t end) const;
    std::uint32_t best_cut(const Part& part) const;
    void note(std::uint32_t operand, SlotVariable::Kind kind, bool written);
    std::vector<std::uint32_t> successors(std::uint32_t unit) const;
    void each_operand(
        const Unit& unit,
        const std::function<void(std::uint32_t, SlotVariable::Kind, bool)>& visit) const;

    const Kernel& kernel_;
    const Instruction::Mode mode_;
    std::map<std::uint32_t, std::uint64_t> constants_;  ///< by operand
    std::vector<Unit> units_;
    std::vector<std::uint32_t> unit_of_;  ///< by index into Kernel::code
    std::vector<bool> is_entry_, is_leader_;
    std::map<std::uint32_t, SlotVariable> variables_;
    std::vector<std::uint32_t> operands_;  ///< by variable's number
    // Sets of variables' numbers, by unit.
    std::vector<NumberSet> reads_;   ///< also what the unit may leave as it was
    std::vector<NumberSet> writes_;  ///< in some lanes at least
    std::vector<NumberSet> live_;
    std::vector<NumberSet> written_;           ///< before the unit, since compiled code has begun
    std::vector<std::uint32_t> loops_;         ///< by unit
    std::vector<NumberSet> written_in_loops_;  ///< by number
    std::vector<LoadGroup> load_groups_;       ///< in their order; none overlaps another one
};

/// Whether a load or store is compiled.
bool is_compiled_access(const Instruction& i, MemoryAccess access);
/// Whether a shuffle is compiled: all lanes by one constant distance.
bool is_compiled_shuffle(const Instruction& i, const Plan& plan);

}  // namespace warpscope::emulator
