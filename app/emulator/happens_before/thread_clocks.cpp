#include "emulator/happens_before/thread_clocks.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "emulator/happens_before/join_clocks.h"

namespace warpscope::emulator {

void ThreadClocks::begin_launch(std::uint32_t threads, bool mbarriers) {
    threads_ = (threads + lanes_per_warp - 1) / lanes_per_warp * lanes_per_warp;
    constexpr std::size_t usual_mbarriers = 64;
    mbarriers_ = mbarriers ? usual_mbarriers : 0;
    entries_ = threads_ + mbarriers_;
    times_.fill(1);
    read_.assign(threads_, 0);
    for (Clocks* clocks : {&clocks_, &fenced_, &pending_}) *clocks = {};
    begin_block();
}

void ThreadClocks::begin_block() {
    if (entries_ > threads_)
        for (Clocks* clocks : {&clocks_, &fenced_, &pending_})
            for (std::size_t end = entries_; end <= clocks->entries.size(); end += entries_)
                std::fill_n(&clocks->entries[end - mbarriers_], mbarriers_, 0);
    phases_.clear();
    polled_.clear();
    seen_phases_.assign(mbarriers_, 0);
    begin_epoch();
}

// Times of earlier epochs stay in the clocks: all accesses of this epoch are later.
void ThreadClocks::begin_epoch() {
    for (std::uint32_t& time : times_) ++time;
    phases_before_epoch_ = seen_phases_;
    sees_others_.fill(false);
    words_.clear();
    for (Clock& barrier : barriers_) barrier.clear();
}

ThreadClocks::Entries ThreadClocks::clock(Clocks& clocks, std::uint32_t thread) {
    clocks.entries.resize(threads_ * entries_);
    clocks.used = true;
    return Entries(clocks.entries).subspan(thread * entries_, entries_);
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
    const std::uint32_t* const seen = &clocks_.entries[thread * entries_ + before * lanes_per_warp];
    std::uint32_t unordered = 0;
    for (unsigned lane = 0; lane < lanes_per_warp; ++lane)
        unordered |= std::uint32_t(seen[lane] < time) << lane;
    return unordered;
}

void ThreadClocks::arrive(std::uint32_t barrier, std::uint32_t warp, Lanes lanes) {
    Clock& arrived = barriers_[barrier];
    arrived.resize(entries_);
    for_each_lane(lanes, [&](std::uint32_t lane) {
        const std::uint32_t thread = warp * lanes_per_warp + lane;
        take_over_pending(thread);
        join_clocks(arrived, clock(clocks_, thread));
        arrived[thread] = std::max(arrived[thread], time_of(thread));
    });
    advance(warp);
}

void ThreadClocks::take_over_pending(std::uint32_t thread) {
    if (!pending_.used) return;
    join_clocks(clock(clocks_, thread), clock(pending_, thread));
    sees_others_[thread / lanes_per_warp] = true;
}

void ThreadClocks::leave(std::uint32_t barrier, std::uint32_t warp, Lanes lanes) {
    sees_others_[warp] = true;
    for_each_lane(lanes, [&](std::uint32_t lane) {
        join_clocks(clock(clocks_, warp * lanes_per_warp + lane), barriers_[barrier]);
    });
}

void ThreadClocks::warp_sync(std::uint32_t warp, Lanes members) {
    const std::uint32_t first = warp * lanes_per_warp;
    const std::size_t from = sees_others_[warp] ? 0 : first;
    const std::size_t count = sees_others_[warp] ? entries_ : lanes_per_warp;
    Clock all(count);
    for_each_lane(members, [&](std::uint32_t lane) {
        join_clocks(all, clock(clocks_, first + lane).subspan(from, count));
    });
    for_each_lane(members, [&](std::uint32_t lane) { all[first + lane - from] = times_[warp]; });
    for_each_lane(members, [&](std::uint32_t lane) {
        std::copy(all.begin(), all.end(), clock(clocks_, first + lane).subspan(from).begin());
    });
    advance(warp);
}

void ThreadClocks::fence(std::uint32_t warp, Lanes lanes) {
    for_each_lane(lanes, [&](std::uint32_t lane) {
        const std::uint32_t thread = warp * lanes_per_warp + lane;
        take_over_pending(thread);
        const Clock now = published(clocks_, thread);
        std::copy(now.begin(), now.end(), clock(fenced_, thread).begin());
    });
    advance(warp);
}

void ThreadClocks::read(std::uint64_t address, std::uint32_t thread, MemoryOrder order) {
    polled_.insert(address);
    const auto word = words_.find(address);
    if (word == words_.end()) return;
    // A thread that waits reads one version many times. Acquires and relaxed reads differ.
    const std::uint64_t version = word->second.version * 2 + acquires(order);
    if (std::exchange(read_[thread], version) == version) return;
    join_clocks(clock(acquires(order) ? clocks_ : pending_, thread), word->second.clock);
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
        now.resize(entries_);
    }
    Word& word = words_[address];
    word.version = ++version_;
    if (updates && !word.clock.empty())
        join_clocks(word.clock, now);
    else
        word.clock = std::move(now);
}

void ThreadClocks::overwrite(std::uint64_t address, std::uint32_t bytes) {
    if (words_.empty()) return;
    for (std::uint64_t a = address; a < address + bytes; ++a) words_.erase(a);
}

// All clocks get entries for as many mbarriers again.
void ThreadClocks::add_mbarriers() {
    const std::size_t before = entries_;
    entries_ += mbarriers_;
    mbarriers_ *= 2;
    for (Clocks* clocks : {&clocks_, &fenced_, &pending_}) {
        if (clocks->entries.empty()) continue;
        std::vector<std::uint32_t> larger(threads_ * entries_);
        for (std::size_t thread = 0; thread < threads_; ++thread)
            std::copy_n(&clocks->entries[thread * before], before, &larger[thread * entries_]);
        clocks->entries = std::move(larger);
    }
    const auto resize = [&](Clock& clock) {
        if (!clock.empty()) clock.resize(entries_);
    };
    for (auto& [address, word] : words_) resize(word.clock);
    for (Clock& barrier : barriers_) resize(barrier);
    for (auto& [mbarrier, phases] : phases_) {
        resize(phases.arriving);
        resize(phases.ended);
    }
    seen_phases_.resize(mbarriers_);
    phases_before_epoch_.resize(mbarriers_);
}

ThreadClocks::Phases& ThreadClocks::phases_of(std::uint32_t mbarrier) {
    const auto [found, is_new] = phases_.try_emplace(mbarrier);
    if (is_new) {
        if (phases_.size() > mbarriers_) add_mbarriers();
        found->second.arriving.resize(entries_);
        found->second.ended.resize(entries_);
        found->second.entry = phases_.size() - 1;
    }
    return found->second;
}

void ThreadClocks::arrive_at_mbarrier(std::uint32_t mbarrier, std::uint32_t thread) {
    Phases& phases = phases_of(mbarrier);
    const Entries own = clock(clocks_, thread);
    join_clocks(phases.arriving, own);
    phases.arriving[thread] = std::max(phases.arriving[thread], time_of(thread));
    advance(thread / lanes_per_warp);
}

void ThreadClocks::end_phase(std::uint32_t mbarrier) {
    Phases& phases = phases_of(mbarrier);
    join_clocks(phases.ended, phases.arriving);
    std::fill(phases.arriving.begin(), phases.arriving.end(), 0);
}

void ThreadClocks::see_phase(std::uint32_t mbarrier, std::uint32_t thread, std::uint32_t ended) {
    Phases& phases = phases_of(mbarrier);
    const Entries own = clock(clocks_, thread);
    std::uint32_t& mine = own[threads_ + phases.entry];
    if (mine == ended) return;  // a thread that looks again
    join_clocks(own, phases.ended);
    mine = std::max(mine, ended);
    seen_phases_[phases.entry] = std::max(seen_phases_[phases.entry], ended);
    sees_others_[thread / lanes_per_warp] = true;
}

std::uint32_t ThreadClocks::phases_before(std::uint32_t mbarrier, std::uint32_t thread) const {
    const auto found = phases_.find(mbarrier);
    if (found == phases_.end() || !clocks_.used) return 0;
    const std::size_t entry = found->second.entry;
    return std::max(phases_before_epoch_[entry],
                    clocks_.entries[thread * entries_ + threads_ + entry]);
}

}  // namespace warpscope::emulator
