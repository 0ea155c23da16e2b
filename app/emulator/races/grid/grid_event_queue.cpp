#include "emulator/races/grid/grid_event_queue.h"

#include <array>

#include "emulator/races/streaming_load.h"

namespace warpscope::emulator {

void GridEventQueue::on_turns_begin() {
    waits_ = false;
    for (const Event& event : events_) tell(event);
    events_.clear();
    addresses_.clear();
    values_.clear();
    told_addresses_ = told_values_ = 0;
}

void GridEventQueue::on_global_access(const Access& a) {
    if (!waits_) return races_.on_global_access(a);
    Access waiting = a;
    waiting.consecutive = a.is_consecutive();
    if (waiting.consecutive) {
        addresses_.push_back(a.lane_addresses[0]);
    } else {
        addresses_.resize(addresses_.size() + lanes_per_warp);
        for_each_lane(a.same_address ? a.mask & (0 - a.mask) : a.mask, [&](unsigned lane) {
            addresses_[addresses_.size() - lanes_per_warp + lane] = a.lane_addresses[lane];
        });
    }
    if (a.kind == MemoryAccess::store) {
        const std::size_t first = values_.size();
        values_.resize(first + std::size_t(lanes_per_warp) * a.bytes);
        for_each_lane(a.mask, [&](unsigned lane) {
            a.stored(lane, values_.data() + first + std::size_t(lane) * a.bytes);
        });
    }
    events_.push_back(waiting);
}

void GridEventQueue::tell(const Event& event) {
    if (const auto* turn = std::get_if<Turn>(&event))
        races_.on_block_turn(turn->block);
    else if (const auto* at = std::get_if<WarpFence>(&event))
        races_.on_fence(at->block, at->warp, at->mask, at->fence);
    else if (const auto* sync = std::get_if<WarpSync>(&event))
        races_.on_warp_sync(sync->block, sync->warp, sync->members);
    else if (const auto* release = std::get_if<BarrierRelease>(&event))
        races_.on_barrier_release(*release);
    else
        tell_access(std::get<Access>(event));
}

void GridEventQueue::tell_access(Access a) {
    std::array<std::uint64_t, lanes_per_warp> neighbours;
    a.lane_addresses = addresses_.data() + told_addresses_;
    if (a.consecutive) {
        neighbours = neighbouring_addresses(addresses_[told_addresses_], a.bytes);
        a.lane_addresses = neighbours.data();
    }
    told_addresses_ += a.consecutive ? 1 : lanes_per_warp;
    if (a.kind == MemoryAccess::store) {
        a.values = values_.data() + told_values_;
        told_values_ += std::size_t(lanes_per_warp) * a.bytes;
    }
    races_.on_global_access(a);
}

}  // namespace warpscope::emulator
