#pragma once

#include "emulator/fast_paths/compiled/generate/addresses.h"

namespace warpscope::emulator {

/// Tells the observer of the block about accesses. Where the block follows a model, or loads one
/// shared address, the code only notes that the access has happened.
class Reports {
  public:
    Reports(FunctionContext& context, Slots& slots, Addresses& addresses, Exits& exits)
        : context_(context), ir_(context.ir), slots_(slots), addresses_(addresses), exits_(exits) {}

    /// Reports an access whose addresses have been checked: an address for all lanes, or one for
    /// each lane. All are without the immediate operand. `first`, `second`: the addresses of lanes
    /// 0 and 16 as i64, where the lanes of each half of the warp access bytes that follow each
    /// other.
    void report(std::uint32_t u, const Lanes& addresses, LlvmValue first = nullptr,
                LlvmValue second = nullptr);

  private:
    void report_broadcast(std::uint32_t u, LlvmValue address, LlvmBlock done);
    void follow_model(std::uint32_t u, LlvmValue first, LlvmValue second, LlvmBlock done);
    void report_lanes(std::uint32_t u, const Lanes& addresses, LlvmValue consecutive_lanes,
                      LlvmBlock done);
    void end_where_asked(std::uint32_t u, LlvmValue ends, LlvmBlock done);

    FunctionContext& context_;
    Ir& ir_;
    Slots& slots_;
    Addresses& addresses_;
    Exits& exits_;
};

}  // namespace warpscope::emulator
