#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "emulator/stepper/stepper.h"

namespace warpscope::emulator {

/// The registers that each instruction of a kernel writes, as indices into Kernel::registers.
class RegisterWrites {
  public:
    RegisterWrites() = default;
    explicit RegisterWrites(const Kernel& kernel);
    const std::vector<std::uint32_t>& of(std::uint32_t pc) const { return writes_[pc]; }

  private:
    std::vector<std::vector<std::uint32_t>> writes_;
};

/// Returns the names of the registers that a PTX statement writes: "%f1" and "%f2" for
/// "ld.shared.v2.f32 {%f1, %f2}, [%r4]"; none for a store.
std::vector<std::string> written_names(std::string_view statement);

struct RecentRegister {
    std::uint32_t index = 0;  ///< index into Kernel::registers
    std::uint64_t step = 0;   ///< the step that wrote it
};

/// The registers that a lane has written up to the current step, newest first, at most `most`.
std::vector<RecentRegister> recent_registers(const Stepper& stepper, const RegisterWrites& writes,
                                             unsigned warp, unsigned lane, std::size_t most);

/// Formats the value of a register by its type: "0.7071", "-3", "true". A 64-bit integer that needs
/// more than 32 bits is taken for an address: "0x7f31c0de1000".
std::string register_text(const RegisterInfo& reg, std::uint64_t bits);

}  // namespace warpscope::emulator
