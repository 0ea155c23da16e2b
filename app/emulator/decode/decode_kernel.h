#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emulator/lower/control_flow.h"
#include "emulator/lower/uniformity.h"
#include "emulator/program/module.h"
#include "emulator/ptx/ptx_syntax.h"

namespace warpscope::emulator {

/// Lays out the register file of a warp: hands out slots as operands of instructions. Vector slots
/// have provisional offsets until all slots are known, since they lie behind the uniform ones: see
/// final_operand().
class SlotAllocator {
  public:
    std::uint32_t uniform(std::uint32_t bytes = 8);
    std::uint32_t vector(unsigned bits);
    std::uint32_t constant(std::uint64_t value);  ///< one slot for each value
    std::uint32_t special(Special special);       ///< one slot for each special register

    /// Returns the operand in the finished kernel. Valid once all slots are handed out.
    std::uint32_t final_operand(std::uint32_t operand) const;
    /// Tells the kernel its constants, special registers and the size of its register file.
    void finish(Kernel& kernel) const;

  private:
    static constexpr std::uint32_t vector_flag = 1u << 31;

    std::uint32_t uniform_bytes_ = 8;  // operand 0 means "none"
    std::uint32_t vector_bytes_ = 0;
    std::map<std::uint64_t, std::uint32_t> constants_;
    std::map<Special, std::uint32_t> specials_;
};

/// Where a variable or parameter lies: a host address for .global and .const, an offset in its
/// space for the others.
struct Symbol {
    Space space = Space::global;
    std::uint64_t address = 0;
    std::uint32_t element_bytes = 1;  ///< of an array
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

// Passes of decode_kernel() in other files, in their order.

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

/// Makes a kernel's instructions from its syntax. Throws Error, which names the PTX line and, if it
/// is known, the CUDA line.
std::unique_ptr<Kernel> decode_kernel(const Module& module, const Symbols& module_symbols,
                                      KernelSyntax syntax);

/// Throws an Error that names the module, the kernel, the lines, `what`, and the statement's text.
[[noreturn]] void fail_at(const KernelState& state, const Statement& statement,
                          const std::string& what);

}  // namespace warpscope::emulator
