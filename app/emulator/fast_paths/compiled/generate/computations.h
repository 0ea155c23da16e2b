#pragma once

#include "emulator/fast_paths/compiled/generate/slots.h"

namespace warpscope::emulator {

/// Writes what computes: arithmetic, logic and shuffles. Uniform results and masks are computed in
/// the segment's scalar part, vectors group by group.
class Computations {
  public:
    Computations(FunctionContext& context, Slots& slots, bool has_fma)
        : context_(context),
          ir_(context.ir),
          slots_(slots),
          arithmetics_{ir_, has_fma, context.kernel().flush_subnormals} {}

    /// `active`: the mask of the lanes that compute, where some skip; null: all of them do.
    void compute(const Unit& unit, LlvmValue active = nullptr);
    /// Ends the segment before the shuffle.
    void shuffle(const Unit& unit);

  private:
    void compute_mask(const Unit& unit);
    void compute_scalar(const Unit& unit);
    void compute_lanes(const Unit& unit, LlvmValue active);
    LlvmValue source(const Instruction& i, unsigned k, unsigned g);

    FunctionContext& context_;
    Ir& ir_;
    Slots& slots_;
    const Arithmetics arithmetics_;
};

}  // namespace warpscope::emulator
