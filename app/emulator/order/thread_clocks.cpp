#include "emulator/order/thread_clocks.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace warpscope::emulator {

namespace {

void join(std::span<std::uint32_t> into, std::span<const std::uint32_t> from) {
    for (std::size_t k = 0; k < into.size(); ++k) into[k] = std::max(into[k], from[k]);
}

// Calls f(lane) for each lane of a mask.
template <typename F>
void for_lanes(std::uint32_t lanes, F&& f) {
    for (; lanes; lanes &= lanes - 1) f(std::uint32_t(std::countr_zero(lanes)));
}

}  // namespace

void ThreadClocks::begin_launch(std::uint32_t threads) {
    threads_ = (threads + lanes_per_warp - 1) / lanes_per_warp * lanes_per_warp;
    times_.fill(1);
    read_.assign(threads_, 0);
    for (Clocks* clocks : {&clocks_, &fenced_, &pending_}) *clocks = {};
    begin_epoch();
}

void ThreadClocks::begin_epoch() {
    for (Clocks* clocks : {&clocks_, &fenced_, &pending_}) {
        if (clocks->used) std::fill(clocks->entries.begin(), clocks->entries.end(), 0);
        clocks->used = false;
    }
    sees_others_.fill(false);
    words_.clear();
    for (Clock& barrier : barriers_) barrier.clear();
}

ThreadClocks::Entries ThreadClocks::clock(Clocks& clocks, std::uint32_t thread) {
    clocks.entries.resize(threads_ * threads_);
    clocks.used = true;
    return Entries(clocks.entries).subspan(thread * threads_, threads_);
}

ThreadClocks::Clock ThreadClocks::published(Clocks& clocks, std::uint32_t thread) {
    const Entries entries = clock(clocks, thread);
    Clock copy(entries.begin(), entries.end());
    copy[thread] = time_of(thread);
    return copy;
}

std::uint32_t ThreadClocks::unordered_lanes(std::uint32_t before, std::uint32_t time,
                                            std::uint32_t thread) const {
    if (!clocks_.used) return all_lanes;
    const std::uint32_t* const seen = &clocks_.entries[thread * threads_ + before * lanes_per_warp];
    std::uint32_t unordered = 0;
    for (unsigned lane = 0; lane < lanes_per_warp; ++lane)
        unordered |= std::uint32_t(seen[lane] < time) << lane;
    return unordered;
}

void ThreadClocks::arrive(std::uint32_t barrier, std::uint32_t warp, Lanes lanes) {
    Clock& arrived = barriers_[barrier];
    arrived.resize(threads_);
    for_lanes(lanes, [&](std::uint32_t lane) {
        const std::uint32_t thread = warp * lanes_per_warp + lane;
        take_over_pending(thread);
        join(arrived, published(clocks_, thread));
    });
    advance(warp);
}

void ThreadClocks::take_over_pending(std::uint32_t thread) {
    if (!pending_.used) return;
    join(clock(clocks_, thread), clock(pending_, thread));
    sees_others_[thread / lanes_per_warp] = true;
}

void ThreadClocks::leave(std::uint32_t barrier, std::uint32_t warp, Lanes lanes) {
    sees_others_[warp] = true;
    for_lanes(lanes, [&](std::uint32_t lane) {
        join(clock(clocks_, warp * lanes_per_warp + lane), barriers_[barrier]);
    });
}

void ThreadClocks::warp_sync(std::uint32_t warp, Lanes members) {
    const std::uint32_t first = warp * lanes_per_warp;
    const std::size_t from = sees_others_[warp] ? 0 : first;
    const std::size_t count = sees_others_[warp] ? threads_ : lanes_per_warp;
    Clock all(count);
    for_lanes(members, [&](std::uint32_t lane) {
        join(all, clock(clocks_, first + lane).subspan(from, count));
    });
    for_lanes(members, [&](std::uint32_t lane) { all[first + lane - from] = times_[warp]; });
    for_lanes(members, [&](std::uint32_t lane) {
        std::copy(all.begin(), all.end(), clock(clocks_, first + lane).subspan(from).begin());
    });
    advance(warp);
}

void ThreadClocks::fence(std::uint32_t warp, Lanes lanes) {
    for_lanes(lanes, [&](std::uint32_t lane) {
        const std::uint32_t thread = warp * lanes_per_warp + lane;
        take_over_pending(thread);
        const Clock now = published(clocks_, thread);
        std::copy(now.begin(), now.end(), clock(fenced_, thread).begin());
    });
    advance(warp);
}

void ThreadClocks::read(std::uint64_t address, std::uint32_t thread, MemoryOrder order) {
    const auto word = words_.find(address);
    if (word == words_.end()) return;
    // A thread that waits reads one version many times. Acquires and relaxed reads differ.
    const std::uint64_t version = word->second.version * 2 + acquires(order);
    if (std::exchange(read_[thread], version) == version) return;
    join(clock(acquires(order) ? clocks_ : pending_, thread), word->second.clock);
    if (acquires(order)) sees_others_[thread / lanes_per_warp] = true;
}

void ThreadClocks::write(std::uint64_t address, std::uint32_t thread, MemoryOrder order,
                         bool updates) {
    Clock now;
    if (releases(order)) {
        now = published(clocks_, thread);
    } else if (fenced_.used) {
        const Entries fenced = clock(fenced_, thread);
        now.assign(fenced.begin(), fenced.end());
    } else {
        now.resize(threads_);
    }
    Word& word = words_[address];
    word.version = ++version_;
    if (updates && !word.clock.empty())
        join(word.clock, now);
    else
        word.clock = std::move(now);
}

void ThreadClocks::overwrite(std::uint64_t address, std::uint32_t bytes) {
    if (words_.empty()) return;
    for (std::uint64_t a = address; a < address + bytes; ++a) words_.erase(a);
}

}  // namespace warpscope::emulator
