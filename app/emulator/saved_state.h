#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "emulator/machine/machine.h"

namespace warpscope::emulator {

/// A copy of what a launch can change: all global memory in use, the variables of a module, the
/// shared memory of the virtual SMs, and the text that kernels have printed. The machine's
/// allocations must not change while it is used.
class SavedState {
  public:
    SavedState(Machine& machine, const Module& module);
    void restore() const;

    /// The bytes of global memory that a copy takes.
    static std::size_t bytes(Machine& machine, const Module& module);

  private:
    Machine& machine_;
    std::vector<std::span<std::byte>> places_;
    std::vector<AlignedBytes> copies_;  ///< of each place
    Machine::OwnState own_;
};

}  // namespace warpscope::emulator
