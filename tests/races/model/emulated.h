#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emulator/machine/machine.h"
#include "executions.h"

namespace warpscope::tests::memory_model {

/// A run of a program in the emulator.
struct Emulated {
    std::vector<unsigned> operations;  ///< that were executed, in their order
    std::vector<std::uint32_t> registers;
    std::set<Race> races;  ///< that the race check has found
};

/// A program as a kernel. Each of its threads is the first lane of a warp.
class EmulatedProgram {
  public:
    explicit EmulatedProgram(const Program& program);

    /// Blocks run one after the other, and the warps of a block as the settings say.
    Emulated run(emulator::LaunchSettings settings) const;
    /// The threads take these turns, of one operation each, whether it is executed or not. One that
    /// waits is tried once; where it need not wait, or has waited, the thread goes on to its end.
    /// Returns nothing where threads wait in vain.
    std::optional<Emulated> run_in_turns(const std::vector<unsigned>& threads) const;
    /// Of an order in which a load of one of the operations gets an older value than that of the
    /// other one, and the program ends otherwise than in the order that the search compares with:
    /// the registers. Returns nothing where no order is found.
    std::optional<std::vector<std::uint32_t>> run_with_old_values(const Race& race) const;

  private:
    std::string ptx() const;
    std::string start_of_ptx() const;
    std::string ptx_of(unsigned operation) const;
    std::uint32_t warp_of(unsigned thread) const;
    std::uint32_t start_of(unsigned operation) const;

    const Program& program_;
    std::vector<std::uint32_t> warp_in_block_;  ///< by thread
    std::uint32_t blocks_ = 0, warps_per_block_ = 0;
    std::shared_ptr<const emulator::Module> module_;
    const emulator::Kernel* kernel_ = nullptr;
};

}  // namespace warpscope::tests::memory_model
