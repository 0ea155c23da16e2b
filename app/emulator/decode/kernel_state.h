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
    std::uint32_t join_block;  ///< ControlFlow::no_block if there is none
};

/// A kernel while it is decoded. Each pass of decode_kernel() reads what earlier ones have written.
struct KernelState {
    const Module& module;
    const Symbols& module_symbols;
    KernelSyntax syntax;
    std::unique_ptr<Kernel> kernel = std::make_unique<Kernel>();
    SlotAllocator slots;

    // analyse_control() fills in:
    ControlFlow flow;
    Uniformity uniformity;
    // place_variables() fills in:
    Symbols symbols;
    // find_bases() fills in indices into Kernel::bases:
    static constexpr int no_base = -1, several_bases = -2;
    std::vector<int> base_of_register;  ///< of what its values are computed
    std::map<std::string, int> base_of_symbol;
    // find_aliases() fills in:
    std::vector<std::optional<std::uint32_t>> aliases;
    std::vector<bool>
        dropped;  ///< indexed by statement: it needs no instruction, since its result is an alias
    // place_registers() fills in:
    std::vector<std::uint32_t> register_slots;  ///< indexed by register
    std::vector<bool> is_read;                  ///< indexed by register
    // decode_blocks() fills in:
    std::vector<std::uint32_t> block_begin;  ///< indexed by block: index into Kernel::code
    std::vector<BranchFixup> fixups;
};

// The passes follow in their order.

/// Throws Error for a statement whose opcode, operand count or label is unknown.
void check_statements(const KernelState& state);
/// Switches the CPU's flush mode on for a kernel in which an operation flushes subnormals.
void choose_float_mode(KernelState& state);
/// Turns all control flow into branches, and finds basic blocks and uniform registers.
void analyse_control(KernelState& state);
/// Computes the offsets of parameters, shared and local variables.
void place_variables(KernelState& state);
/// Finds the arrays, variables and parameters of which addresses are computed.
void find_bases(KernelState& state);
/// Returns what an address operand is computed from: an index into Kernel::bases, or a negative
/// number.
int base_of_address(const KernelState& state, const Operand& address);
/// Finds registers that only rename a constant, a special register or a parameter. They need
/// neither a slot nor an instruction.
void find_aliases(KernelState& state);
/// Gives a slot to each register that is used.
void place_registers(KernelState& state);
/// Decodes the instructions of each block.
void decode_blocks(KernelState& state);
/// Computes the distances of branches to their targets and joins.
void resolve_branches(KernelState& state);
/// Writes the final offsets of slots into instructions and into the kernel's list of registers.
void finish_operands(KernelState& state);
/// Marks what observers can be told about each instruction.
void mark_events(KernelState& state);
/// Moves what analyses of the whole kernel need to Kernel::origin.
void keep_origin(KernelState& state);

/// Makes a kernel's instructions from its syntax. Throws Error, which names the PTX line and, if it
/// is known, the CUDA line.
std::unique_ptr<Kernel> decode_kernel(const Module& module, const Symbols& module_symbols,
                                      KernelSyntax syntax);

/// Throws an Error that names the module, the kernel, the lines, `what`, and the statement's text.
[[noreturn]] void fail_at(const KernelState& state, const Statement& statement,
                          const std::string& what);

}  // namespace warpscope::emulator
