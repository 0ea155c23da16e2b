#pragma once

#include <cstdint>
#include <vector>

#include "emulator/program/module.h"

namespace warpscope::emulator {

/// Which registers of a kernel may still be read, at each of its instructions. Two states of a warp
/// that differ in other registers have the same future.
class LiveRegisters {
  public:
    explicit LiveRegisters(const Kernel& kernel);

    /// Bytes of a warp's register file.
    struct Piece {
        std::uint32_t offset = 0, bytes = 0;
    };
    /// Those that may be read from this instruction on. An instruction that the decoder has
    /// inserted has those of the next one.
    const std::vector<Piece>& at(const Instruction* pc) const;

  private:
    const Kernel& kernel_;
    std::vector<std::vector<Piece>> pieces_;  ///< by statement
};

}  // namespace warpscope::emulator
