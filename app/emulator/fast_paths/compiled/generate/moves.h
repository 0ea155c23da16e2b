#pragma once

#include "emulator/fast_paths/compiled/generate/addresses.h"

namespace warpscope::emulator {

/// Moves values between registers and memory, at addresses that have been checked. In the builder's
/// block.
class Moves {
  public:
    Moves(FunctionContext& context, Slots& slots, Addresses& addresses);

    void load_uniform(const Unit& unit, LlvmValue address);
    /// `halves`: the addresses of the first and of the 17th lane.
    void move_consecutive(const Unit& unit, const std::array<LlvmValue, 2>& halves);
    /// Moves the lanes that run, each at its own address.
    void move_scattered(const Unit& unit);
    /// Code for pairs is written for this access; see Addresses::Pairs.
    bool may_be_pairs(const Unit& unit) const;
    void move_pairs(const Unit& unit, const Addresses::Pairs& pairs);
    /// The values that a store moves for the lanes of group `g`, by element.
    Lanes stored(const Unit& unit, unsigned g);

  private:
    LlvmValue host_places(LlvmValue base, LlvmValue addresses) const;

    FunctionContext& context_;
    Ir& ir_;
    Slots& slots_;
    Addresses& addresses_;
    const bool may_have_pairs_;
};

}  // namespace warpscope::emulator
