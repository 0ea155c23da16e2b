#pragma once

#include <map>
#include <utility>

#include "emulator/fast_paths/compiled/generate/function_context.h"
#include "emulator/fast_paths/compiled/generate/slots.h"
#include "emulator/warp/warp.h"

namespace warpscope::emulator {

/// Counts the turn down as the interpreter does, instruction for instruction. Where the code
/// reports to an observer, it also counts the executions of each instruction (ExecutionCount).
class TurnCounter {
  public:
    explicit TurnCounter(FunctionContext& context) : context_(context), ir_(context.ir) {}
    /// Declares and loads the variables, in the function's first block.
    void begin();

    /// The instructions that the turn has left after `cost` of them: an i64.
    LlvmValue left_after(std::uint64_t cost) const;
    void set_left(LlvmValue left) const { ir_.store(left, left_); }
    /// Takes the unit's cost off the turn.
    void take(std::uint32_t u) const;
    /// Takes the unit's cost off the turn. Gives i1: some of the turn is left.
    LlvmValue is_left_after(std::uint32_t u) const;
    /// Counts a branch at which the lanes of a mask skip the units up to `join`. `skipped`: the
    /// cost of these.
    void count_skip(std::uint32_t branch, std::uint32_t join, std::uint64_t skipped,
                    LlvmValue lanes) const;
    /// Stores what is left into the warp.
    void store_left() const;

  private:
    void count_execution(std::uint32_t u) const;
    void add_to_count(std::uint32_t u, std::size_t member, LlvmValue number) const;

    FunctionContext& context_;
    Ir& ir_;
    LlvmValue left_ = nullptr;  ///< a variable
    // The counts by instruction, and the number of lanes that do not run; only where the code
    // reports.
    LlvmValue executions_ = nullptr, idle_lanes_ = nullptr;
};

/// The blocks to which the code of a unit goes: other units, other parts of the plan, and the ends
/// of compiled code. A block is made when it is asked for; write() fills all but the units'. On its
/// way from or to a tight loop, a register may change its place.
class Exits {
  public:
    Exits(FunctionContext& context, const Part& part, Slots& slots, TurnCounter& turn)
        : context_(context), ir_(context.ir), part_(part), slots_(slots), turn_(turn) {}
    /// Declares the variables, in the function's first block.
    void declare_variables();

    /// The block of a leader's own code.
    LlvmBlock leader(std::uint32_t u);
    /// Goes on at the unit, whose registers lie in their slots if they do so outside of loops.
    LlvmBlock from_outside_loops(std::uint32_t u);
    /// Goes on at the unit from the tight loop that is being written, or from outside of them.
    LlvmBlock way_to(std::uint32_t u);
    /// Ends the turn before the unit.
    LlvmBlock pause_before(std::uint32_t u);
    /// Runs the unit in the interpreter, or waits at its barrier.
    LlvmBlock interpret(std::uint32_t u);
    /// Fills all blocks that have been asked for, behind the last unit.
    void write();

  private:
    /// A way from a tight loop, or from outside of them (0), to a unit.
    using Way = std::pair<std::uint32_t, std::uint32_t>;

    bool is_in_part(std::uint32_t u) const { return u >= part_.begin && u < part_.end; }
    void write_ways();
    void write_exit(const Way& way);
    void end_turn(Warp::Outcome outcome);
    void wait_at_barrier(std::uint32_t u);
    void run_handler(std::uint32_t u);
    void write_ways_to_parts();
    void write_ends();
    LlvmValue address_of_unit(std::uint32_t u) const {
        return context_.address_of(context_.unit(u).begin);
    }

    FunctionContext& context_;
    Ir& ir_;
    const Part part_;
    Slots& slots_;
    TurnCounter& turn_;
    LlvmValue pauses_ = nullptr;  ///< a variable: the turn ends, otherwise a handler runs
    // Variables of all ends: the instruction that is next, its handler, Warp::outcome.
    LlvmValue next_ = nullptr, handler_ = nullptr, outcome_ = nullptr;
    LlvmBlock ends_turn_ = nullptr, announces_ = nullptr, runs_handler_ = nullptr;
    std::map<std::uint32_t, LlvmBlock> leaders_, from_outside_loops_;
    std::map<Way, LlvmBlock> ways_, ways_to_parts_, pauses_before_, interprets_;
};

}  // namespace warpscope::emulator
