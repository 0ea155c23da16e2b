#pragma once

#include "emulator/fast_paths/compiled/generate/moves.h"
#include "emulator/fast_paths/compiled/generate/reports.h"

namespace warpscope::emulator {

/// Writes loads and stores: chooses the ways on which the addresses are checked, the access is
/// reported, and the values are moved.
class Accesses {
  public:
    Accesses(FunctionContext& context, Slots& slots, Addresses& addresses, Exits& exits)
        : context_(context),
          ir_(context.ir),
          slots_(slots),
          addresses_(addresses),
          exits_(exits),
          moves_(context, slots, addresses),
          reports_(context, slots, addresses, exits) {}

    /// Ends the segment before the access, and begins one behind it.
    void write(std::uint32_t u);

  private:
    void begin_guarded(std::uint32_t u);
    void load_uniform(std::uint32_t u);
    void access_lanes(std::uint32_t u);
    void access_consecutive(std::uint32_t u, const Lanes& addresses,
                            const std::array<LlvmValue, 2>& halves);
    void access_scattered(std::uint32_t u, const Lanes& addresses);

    FunctionContext& context_;
    Ir& ir_;
    Slots& slots_;
    Addresses& addresses_;
    Exits& exits_;
    Moves moves_;
    Reports reports_;
};

}  // namespace warpscope::emulator
