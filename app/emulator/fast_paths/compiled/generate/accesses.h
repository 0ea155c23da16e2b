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
    std::uint32_t wanted_of(std::uint32_t u) const;
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
