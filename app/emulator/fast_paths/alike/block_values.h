#pragma once

#include <cstdint>
#include <vector>

#include "emulator/lower/control_flow.h"
#include "emulator/lower/uniformity.h"
#include "emulator/ptx/ptx_syntax.h"

namespace warpscope::emulator {

/// What the value of a register depends on, from the fewest facts to the most.
enum class BlockValue : std::uint8_t {
    constant,   ///< on the launch: one value in all threads of all blocks, at all times
    per_block,  ///< on the block: one value in all its threads, at all times
    known,      ///< on the launch and the index of the thread in its block, not on the block
    /// Modulo 2^32 it is a known value plus a value of the block: see Likeness::shifted. Only a
    /// register that one statement sets is shifted, so that the value of the block is always one.
    shifted,
    unknown
};

constexpr bool is_known(BlockValue value) {
    return value == BlockValue::constant || value == BlockValue::known;
}

/// The values of a kernel's registers, and what depends on unknown branches: on a predicate that is
/// not known.
class BlockValues {
  public:
    BlockValues(const KernelSyntax& kernel, const ControlFlow& flow, const Uniformity& uniformity);

    BlockValue of(std::int32_t r) const { return values_[std::size_t(r)]; }
    BlockValue of(const Operand& o) const;
    /// Returns false for a basic block between an unknown branch and its join.
    bool is_certain(std::uint32_t block) const { return certain_[block]; }
    /// The basic block in which all threads that have reached the branch at the end of `block` go
    /// on, and in which the lanes that diverge there reconverge; no_block if there is none.
    std::uint32_t join_of(std::uint32_t block) const {
        return uniformity_.divergent[block] ? uniformity_.join[block] : flow_.post_dominator[block];
    }
    /// Returns the basic blocks between the branch that ends a block and the join of its two sides.
    std::vector<bool> before_join(std::uint32_t block) const;

  private:
    struct Register {
        std::uint32_t settings =
            /// Statements that set the register; more than one if it may be unset.
            0;
        std::uint32_t set_in = 0;  ///< the basic block that sets it
        /// Whether the register is read elsewhere than behind that statement in its block.
        bool leaves_block = false;
    };
    void collect_registers();
    bool propagate();
    bool mark_uncertain();
    BlockValue result_of(const Statement& s) const;
    BlockValue linear_result(const Statement& s) const;
    bool widen(std::int32_t r, BlockValue value, std::uint32_t block);

    const KernelSyntax& kernel_;
    const ControlFlow& flow_;
    const Uniformity& uniformity_;
    std::vector<BlockValue> values_;  ///< indexed by register
    std::vector<Register> registers_;
    std::vector<bool> certain_;  ///< indexed by basic block
};

/// Returns whether a load reads an argument of the kernel, at a place that is known.
bool reads_argument(const KernelSyntax& kernel, const Statement& load);

}  // namespace warpscope::emulator
