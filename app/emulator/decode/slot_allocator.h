#pragma once

#include <cstdint>
#include <map>

#include "emulator/program/module.h"

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

}  // namespace warpscope::emulator
