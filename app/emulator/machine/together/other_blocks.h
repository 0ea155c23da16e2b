#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "emulator/machine/together/resident_blocks.h"

namespace warpscope::emulator {

/// Why blocks can't have listed turns (LaunchSettings::together), in words; empty: they can.
std::string why_not_listed(const Kernel& kernel, const BlockGroup& group);

/// The blocks of a launch beside those of LaunchSettings::together. They run alone, or with their
/// cluster, by their index and each from barrier to barrier. All of them run before the listed
/// blocks. Only where the kernel depends on the order of its blocks, those above the first listed
/// one run behind.
class OtherBlocks {
  public:
    OtherBlocks(const Kernel& kernel, const FrozenLaunch& launch, const Memory& memory,
                Budget& budget);

    enum class When : std::uint8_t { before, behind };
    /// Throws the Error of the first one that fails. `observer` may be null.
    void run(When when, unsigned virtual_sms, Observer* observer);

    Statistics statistics() const { return places_.statistics(); }
    const ResidentBlocks& places() const { return places_; }
    LaunchPrints& prints() { return prints_; }

  private:
    const Kernel& kernel_;
    const FrozenLaunch launch_;  ///< without listed turns
    const BlockGroup listed_;
    ResidentBlocks places_;
    LaunchPrints prints_;
};

}  // namespace warpscope::emulator
