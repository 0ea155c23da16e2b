#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emulator/decode/slot_allocator.h"
#include "emulator/lower/control_flow.h"
#include "emulator/lower/uniformity.h"
#include "emulator/program/module.h"
#include "emulator/ptx/ptx_syntax.h"

namespace warpscope::emulator {

/// Where a variable or parameter lies: a host address for .global and .const, an offset in its
/// space for the others.
struct Symbol {
    Space space = Space::global;
    std::uint64_t address = 0;
};
using Symbols = std::map<std::string, Symbol>;

/// A branch whose distances are written once all blocks are decoded.
struct BranchFixup {
    std::uint32_t instruction;
    std::uint32_t target_block;
    std::uint32_t join_block;  ///< ControlFlow::no_block for none
};

/// A kernel while it is decoded. Each pass of decode_kernel() reads what earlier ones have written.
struct KernelState {
    const Module& module;
    const Symbols& module_symbols;
    KernelSyntax syntax;
    std::unique_ptr<Kernel> kernel = std::make_unique<Kernel>();
    SlotAllocator slots;

    // analyse_control()
    ControlFlow flow;
    Uniformity uniformity;
    // place_variables()
    Symbols symbols;
    // find_shared_variables()
    static constexpr int no_variable = -1, several_variables = -2;
    /// By register: the index into Kernel::shared_variables of the one whose address its values are
    /// computed of.
    std::vector<int> variable_of_register;
    // find_aliases()
    std::vector<std::optional<std::uint32_t>> aliases;  ///< by register: a slot that never changes
    std::vector<bool>
        dropped;  ///< by statement: needs no instruction, since its result is an alias
    // place_registers()
    std::vector<std::uint32_t> register_slots;  ///< by register
    std::vector<bool> is_read;                  ///< by register
    // decode_blocks()
    std::vector<std::uint32_t> block_begin;  ///< by block: index into Kernel::code
    std::vector<BranchFixup> fixups;
};

// The passes, in their order.

/// Throws Error for a statement whose opcode, operand count or label is unknown.
void check_statements(const KernelState& state);
/// Whether the kernel runs with the CPU's flush mode on: some operation flushes subnormals.
void choose_float_mode(KernelState& state);
/// Control flow in branches only, basic blocks, uniform registers.
void analyse_control(KernelState& state);
/// Offsets of parameters, shared and local variables.
void place_variables(KernelState& state);
/// Finds the shared variables in which the addresses of accesses lie.
void find_shared_variables(KernelState& state);
/// Of an address operand: an index into Kernel::shared_variables, or a negative number.
int shared_variable_of(const KernelState& state, const Operand& address);
/// Finds registers that only rename a constant, a special register or a parameter. They need
/// neither a slot nor an instruction.
void find_aliases(KernelState& state);
/// A slot for each register that is used.
void place_registers(KernelState& state);
/// The instructions of each block.
void decode_blocks(KernelState& state);
/// Distances of branches to their targets and joins.
void resolve_branches(KernelState& state);
/// Final offsets of slots, in instructions and in what the kernel tells about its registers.
void finish_operands(KernelState& state);
/// What observers can be told about each instruction.
void mark_events(KernelState& state);
/// What the kernel's blocks do alike.
void place_likeness(KernelState& state);

/// A kernel's instructions from its syntax. Throws Error, which names the PTX line and, where it is
/// known, the CUDA line.
std::unique_ptr<Kernel> decode_kernel(const Module& module, const Symbols& module_symbols,
                                      KernelSyntax syntax);

/// Throws Error: module, kernel, lines, `what`, and the statement's text.
[[noreturn]] void fail_at(const KernelState& state, const Statement& statement,
                          const std::string& what);

}  // namespace warpscope::emulator
