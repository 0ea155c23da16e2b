#pragma once

#include "emulator/fast_paths/compiled/generate/function_context.h"

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

}  // namespace warpscope::emulator
