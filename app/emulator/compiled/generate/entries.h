#pragma once

#include "emulator/compiled/generate/addresses.h"

namespace warpscope::emulator {

/// Writes the code by which the interpreter enters a function: it finds out at which unit, checks
/// the addresses that the unit relies on, and fills the variables that are live there.
class Entries {
  public:
    Entries(FunctionContext& context, const Part& part, Slots& slots, Addresses& addresses,
            Exits& exits)
        : context_(context),
          ir_(context.ir),
          part_(part),
          slots_(slots),
          addresses_(addresses),
          exits_(exits) {}
    /// Goes on behind the function's first block, which ends.
    void write();

  private:
    LlvmValue entry_number() const;
    void add_entry(LlvmValue choice, std::uint32_t u, LlvmBlock block) const;
    LlvmBlock fill_before(std::uint32_t u);

    FunctionContext& context_;
    Ir& ir_;
    const Part part_;
    Slots& slots_;
    Addresses& addresses_;
    Exits& exits_;
};

}  // namespace warpscope::emulator
