#pragma once

#include "emulator/program/instruction.h"
#include "emulator/ptx/ptx_syntax.h"

namespace warpscope::emulator {

/// What the result of a statement depends on, besides its source operands.
enum class Effect : std::uint8_t {
    pure,      ///< nothing else
    load,      ///< the time of reading: memory, clocks
    per_lane,  ///< the lane, even where all operands are uniform
    none       ///< there is no result: stores, branches, barriers
};

Effect effect_of(const Statement& statement);

/// What an address is computed from: a register or a symbol. Another operand is its own base.
const Operand& base_of(const Operand& operand);
/// Appends the registers of an operand: the register itself, or those of its elements.
void collect_registers(const Operand& operand, std::vector<std::int32_t>& into);
/// The registers that a statement writes.
std::vector<std::int32_t> destinations_of(const Statement& statement);
/// The registers that a statement reads. A guarded statement reads its guard and its destinations,
/// which keep their values in the lanes where the guard does not hold.
std::vector<std::int32_t> sources_of(const Statement& statement);

/// Control does not simply continue behind the statement: bra, brx, ret, exit, trap.
bool ends_block(const Statement& statement);
bool is_exit(const Statement& statement);           ///< ret, exit
bool is_block_barrier(const Statement& statement);  ///< or one of the cluster
/// All lanes of a warp execute it together: ldmatrix, mma, wmma.
bool works_on_matrices(const Statement& statement);
/// A barrier, or an exchange between the lanes of a warp.
bool waits_for_threads(const Statement& statement);
/// An atomic, or a volatile, relaxed or acquire load. A loop around it may wait for other threads.
bool reads_what_others_write(const Statement& statement);

/// Number of leading operands that are destinations: 0 or 1. It may be a vector or a pair.
unsigned destination_count(const Statement& statement);
/// destination_count() of a decoded instruction counts in Instruction::operands.
unsigned destination_count(const Instruction& instruction);

}  // namespace warpscope::emulator
