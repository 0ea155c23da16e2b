#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "emulator/witness/access_watch.h"
#include "emulator/witness/order_search.h"

namespace warpscope::emulator {

/// The accesses to contended words in one order of a block.
class AccessOrders {
  public:
    AccessOrders() = default;
    explicit AccessOrders(std::vector<ConflictAccess> log) : log_(std::move(log)) {}

    /// Whether a warp overwrites what another one has written since it has read the word, in one
    /// epoch: the update of the other one is lost.
    bool loses_an_update() const;
    /// Returns the first two accesses, one of them writing, that `reference` has in the other
    /// order. nullopt: there are none.
    std::optional<Reversal> first_reversal(const AccessOrders& reference) const;
    /// Only pairs of which one is at each of the two places.
    std::optional<Reversal> first_reversal(const AccessOrders& reference, const Kernel& kernel,
                                           const LinePair& places) const;

  private:
    template <class Wanted>
    std::optional<Reversal> find(const AccessOrders& reference, const Wanted& wanted) const;

    std::vector<ConflictAccess> log_;
};

}  // namespace warpscope::emulator
