#pragma once

#include "emulator/fast_paths/compiled/plan/units.h"

namespace warpscope::emulator {

/// Loads of shared memory from one address, or from one address of each lane, each with an offset
/// of its own. One check covers them: code that comes to a later one has passed the first one, or
/// has begun between them.
struct LoadGroup {
    std::uint32_t first = 0, last = 0;         ///< units of the first and of the last load
    const Instruction* instruction = nullptr;  ///< the first load
    unsigned bytes = 0;                        ///< each load moves them, for a lane
    std::int64_t low = 0, high = 0;            ///< the lowest and the highest offset

    /// The operand of the address, without an offset.
    std::uint32_t address() const { return instruction->operands[instruction->detail]; }
};

/// The load groups of a kernel.
class LoadGroups {
  public:
    explicit LoadGroups(const Units& units);

    /// The group of a load; nullptr for one that is in none.
    const LoadGroup* of(std::uint32_t unit) const;
    /// The group whose first load lies before the unit, and another one at or behind it; or
    /// nullptr.
    const LoadGroup* around(std::uint32_t unit) const;

  private:
    const LoadGroup* next_end(std::uint32_t unit) const;

    std::vector<bool> is_grouped_;   ///< by unit
    std::vector<LoadGroup> groups_;  ///< in their order; none overlaps another one
};

}  // namespace warpscope::emulator
