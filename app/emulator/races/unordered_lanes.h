#pragma once

#include <array>
#include <cstdint>

#include "emulator/happens_before/block_order.h"
#include "emulator/races/access_events.h"

namespace warpscope::emulator {

/// BlockOrder::unordered_lanes() for the cells of one access: neighbours have the same events, and
/// threads that share a clock have one answer.
class UnorderedLanes {
  public:
    /// The lanes of event `number` that nothing orders before what the thread does now.
    std::uint32_t of(const AccessEvent& event, std::uint32_t number, const BlockOrder& order,
                     std::uint32_t warp, unsigned lane) {
        const void* const clock =
            order.by_words() ? order.clocks().clock_of(warp * lanes_per_warp + lane) : nullptr;
        Known& known = known_[number % known_.size()];
        if (!clock || known.event != number || known.clock != clock)
            known = {number, order.unordered_lanes(event.warp, event.moment, warp, lane), clock};
        return known.lanes;
    }

  private:
    struct Known {
        std::uint32_t event = 0, lanes = 0;
        const void* clock = nullptr;
    };
    std::array<Known, 4> known_;
};

}  // namespace warpscope::emulator
