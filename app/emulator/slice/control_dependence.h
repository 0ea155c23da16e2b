#pragma once

#include <cstdint>
#include <vector>

#include "emulator/lower/control_flow.h"
#include "emulator/ptx/ptx_syntax.h"

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

}  // namespace warpscope::emulator
