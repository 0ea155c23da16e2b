#include "emulator/happens_before/block_order.h"

#include <algorithm>
#include <bit>

namespace warpscope::emulator {

void BlockOrder::begin_launch(std::uint32_t threads, bool by_words, bool mbarriers, bool observes) {
    threads_ = threads;
    by_words_ = by_words;
    if (by_words_) clocks_.begin_launch(threads, mbarriers, observes);
}

void BlockOrder::begin_block() {
    ++epoch_;
    if (by_words_) clocks_.begin_block();
    partial_ = false;
    for (WarpClock& warp : warps_) {
        if (warp.arrivals == 1 && warp.round == 1) continue;
        warp.arrivals = warp.round = 1;
        warp.ordered_rounds = 0;
        warp.lanes.clear();
        if (any_partial_) warp.seen.fill(0);
    }
    any_partial_ = false;
    for (Barrier& barrier : barriers_)
        if (barrier.arrived) barrier = {};
}

void BlockOrder::arrive(const BarrierArrival& a) {
    Barrier& barrier = barriers_[a.barrier];
    WarpClock& warp = warps_[a.warp];
    barrier.arrived += lane_count(a.mask);
    barrier.all_wait &= a.waits;
    barrier.counted |= a.expected != 0;
    if (a.waits) barrier.waiting[a.warp] |= a.mask;
    if (by_words_) return clocks_.arrive(a.barrier, a.warp, a.mask);
    if (any_partial_)
        for (std::size_t w = 0; w < warps_.size(); ++w)
            barrier.clock[w] = std::max(barrier.clock[w], warp.seen[w]);
    barrier.clock[a.warp] = std::max(barrier.clock[a.warp], warp.arrivals);
    ++warp.arrivals;
}

void BlockOrder::release(const BarrierRelease& release) {
    Barrier& barrier = barriers_[release.barrier];
    const std::uint32_t all = barrier.counted ? threads_ : release.live_threads;
    if (barrier.all_wait && barrier.arrived >= all) {
        ++epoch_;
        partial_ = false;
        if (by_words_) clocks_.begin_epoch();
    } else {
        partial_ = any_partial_ = true;
        release_some(release.barrier);
    }
    barrier = {};
}

void BlockOrder::release_some(std::uint32_t number) {
    const Barrier& barrier = barriers_[number];
    for (std::uint32_t w = 0; w < warps_.size(); ++w) {
        if (!barrier.waiting[w]) continue;
        if (by_words_) {
            clocks_.leave(number, w, barrier.waiting[w]);
            continue;
        }
        for (std::size_t other = 0; other < warps_.size(); ++other)
            warps_[w].seen[other] = std::max(warps_[w].seen[other], barrier.clock[other]);
        warp_sync(w, barrier.waiting[w]);
    }
    if (by_words_) clocks_.reset_barrier(number);
}

std::uint32_t BlockOrder::lanes_of(std::uint32_t warp) const {
    const std::uint32_t left = threads_ - warp * lanes_per_warp;
    return left >= lanes_per_warp ? all_lanes : (1u << left) - 1;
}

void BlockOrder::warp_sync(std::uint32_t w, std::uint32_t members) {
    if (by_words_) return clocks_.warp_sync(w, members);
    WarpClock& warp = warps_[w];
    if ((lanes_of(w) & ~members) == 0) {
        warp.ordered_rounds = warp.round++;
        return;
    }
    warp.lanes.resize(lanes_per_warp);
    Clock joined{};
    for (std::uint32_t m = members; m; m &= m - 1) {
        const auto lane = std::size_t(std::countr_zero(m));
        const Clock& mine = warp.lanes[lane];
        for (std::size_t k = 0; k < joined.size(); ++k) joined[k] = std::max(joined[k], mine[k]);
    }
    for (std::uint32_t m = members; m; m &= m - 1)
        joined[std::size_t(std::countr_zero(m))] = warp.round;
    for (std::uint32_t m = members; m; m &= m - 1)
        warp.lanes[std::size_t(std::countr_zero(m))] = joined;
    ++warp.round;
}

std::uint32_t BlockOrder::unordered_lanes(std::uint32_t before, const Moment& moment,
                                          std::uint32_t after, unsigned lane) const {
    if (by_words_)
        return clocks_.unordered_lanes(before, moment.round, after * lanes_per_warp + lane);
    const WarpClock& warp = warps_[after];
    if (moment.round <= warp.ordered_rounds) return 0;
    if (warp.lanes.empty()) return all_lanes;
    std::uint32_t unordered = 0;
    const Clock& clock = warp.lanes[lane];
    for (std::uint32_t other = 0; other < clock.size(); ++other)
        unordered |= std::uint32_t(clock[other] < moment.round) << other;
    return unordered;
}

}  // namespace warpscope::emulator
