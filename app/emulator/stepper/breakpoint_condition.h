#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "emulator/program/module.h"

namespace warpscope::emulator {

/// A comparison of a register with a constant: "%r4 >= 16", "%f2 < 0.5", "%r9 == 0xff", "%p1 != 0".
/// The comparison is ==, !=, <, <=, > or >=. The register's type says how its bits are read:
/// integers are signed, but unsigned beside a hexadecimal constant, and floating-point registers
/// are compared as numbers, beside a hexadecimal constant too, which then stands for their bits.
class BreakpointCondition {
  public:
    /// Throws Error, one sentence: the text is no comparison, the kernel has no such register, or
    /// the register cannot have the value.
    BreakpointCondition(const Kernel& kernel, std::string_view text);

    const RegisterInfo& reg() const { return reg_; }
    /// Whether the raw bits of the register in a lane satisfy the condition: see Stepper::value().
    bool holds(std::uint64_t bits) const;

  private:
    enum class Comparison : std::uint8_t {
        equal,
        unequal,
        less_equal,
        greater_equal,
        less,
        greater
    };
    enum class Reading : std::uint8_t { as_signed, as_unsigned, as_float };

    void read_constant(std::string_view text);
    template <class T>
    bool compare(T value, T constant) const;
    double number(std::uint64_t bits) const;

    RegisterInfo reg_;
    Comparison comparison_ = Comparison::equal;
    Reading reading_ = Reading::as_signed;
    std::uint64_t bits_ = 0;  ///< bits of the constant, sign-extended to 64 if it is signed
};

}  // namespace warpscope::emulator
