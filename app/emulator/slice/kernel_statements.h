#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "emulator/lower/control_flow.h"
#include "emulator/ptx/ptx_syntax.h"
#include "emulator/slice/slice.h"

namespace warpscope::emulator {

/// Which branches of a kernel decide whether a statement is executed: a statement depends on a
/// branch if it is executed for sure after one of its ways, and not for sure after the other one
/// (Ferrante, Ottenstein and Warren 1987).
class ControlDependence {
  public:
    ControlDependence(const KernelSyntax& kernel, const ControlFlow& flow);

    bool is_branch(std::size_t statement) const { return is_branch_[statement]; }
    bool decides(std::size_t branch, std::size_t statement) const;

  private:
    std::vector<std::uint32_t> block_of_;              ///< by statement
    std::vector<std::vector<std::uint32_t>> decided_;  ///< by the block of a branch, ascending
    std::vector<bool> is_branch_;                      ///< by statement
};

/// What a statement reads and writes, as far as its text says it. Registers are indices into
/// KernelSyntax::registers; -1 stands for what is no register.
struct StatementEffects {
    const Statement* statement = nullptr;
    std::vector<std::int32_t> results;  ///< of a load: one for each element
    std::vector<std::int32_t> stored;   ///< of a store: one for each element
    std::size_t first_source = 0;       ///< index into its operands
    std::size_t stored_operand = ~std::size_t(0);
    std::uint32_t element_bytes = 4;  ///< of a load or store
    bool updates_memory = false;      ///< an atomic
    bool is_exchange = false, is_shuffle = false;
    bool is_of_whole_warp = false;  ///< each result depends on the operands of all lanes
    bool reads_carry = false;
    /// What else it reads; Kind::instruction: nothing.
    SliceSource::Kind input = SliceSource::Kind::instruction;
};

/// The statements of a kernel by the instructions that execute them.
class KernelStatements {
  public:
    explicit KernelStatements(const Kernel& kernel);

    /// The number of registers, with the condition code as the last one.
    std::size_t registers() const { return std::size_t(carry()) + 1; }
    std::int32_t carry() const;
    const StatementEffects& of(std::uint32_t pc) const { return effects_[index_of(pc)]; }
    /// Whether an instruction is a branch with a guard, and whether it decides if another one is
    /// executed.
    bool is_branch(std::uint32_t pc) const { return control_.is_branch(index_of(pc)); }
    bool decides(std::uint32_t branch, std::uint32_t pc) const {
        return control_.decides(index_of(branch), index_of(pc));
    }
    /// The statement without an instruction that sets a register to what never changes. Null: the
    /// register is set by instructions.
    const Statement* only_copy(std::int32_t reg) const;
    std::uint64_t parameter_offset(std::string_view name) const;
    /// The register whose value says most about an instruction: its first result, or what it
    /// stores. Null: there is none.
    const RegisterInfo* shown_register(std::uint32_t pc) const;

  private:
    std::size_t index_of(std::uint32_t pc) const { return kernel_.lines[pc].statements - 1; }

    const Kernel& kernel_;
    const KernelSyntax& syntax_;
    const ControlDependence control_;
    std::vector<StatementEffects> effects_;      ///< by statement
    std::vector<const Statement*> only_copies_;  ///< by register; or null
};

}  // namespace warpscope::emulator
