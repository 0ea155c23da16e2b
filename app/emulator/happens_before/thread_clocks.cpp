#include "emulator/happens_before/thread_clocks.h"

#include <algorithm>
#include <utility>

#include "emulator/happens_before/join_clocks.h"

namespace warpscope::emulator {

void WarpClocks::begin_launch(std::size_t threads, std::size_t entries) {
    shared_.assign(threads / 32, ThreadClock(entries));
    own_.assign(threads, {});
    share_all();
}

void WarpClocks::resize(std::size_t entries) {
    for (ThreadClock& clock : shared_) clock.resize(entries);
    for (ThreadClock& clock : own_)
        if (!clock.empty()) clock.resize(entries);
}

void WarpClocks::clear_from(std::size_t entry) {
    for (std::vector<ThreadClock>* clocks : {&shared_, &own_})
        for (ThreadClock& clock : *clocks)
            if (!clock.empty()) std::fill(clock.begin() + std::ptrdiff_t(entry), clock.end(), 0);
}

ThreadClock& WarpClocks::own(std::uint32_t thread) {
    if (is_shared(thread)) {
        own_[thread] = shared_[thread / 32];
        sharing_[thread / 32] &= ~(1u << thread % 32);
    }
    return own_[thread];
}

ThreadClock& WarpClocks::share(std::uint32_t warp, Lanes lanes, const ThreadClock& clock) {
    keep_apart(warp, sharing_[warp] & ~lanes);
    sharing_[warp] = lanes;
    return shared_[warp] = clock;
}

void ThreadClocks::begin_launch(std::uint32_t threads, bool mbarriers, bool observes) {
    observes_ = observes;
    threads_ = (threads + lanes_per_warp - 1) / lanes_per_warp * lanes_per_warp;
    constexpr std::size_t usual_mbarriers = 64;
    mbarriers_ = mbarriers ? usual_mbarriers : 0;
    entries_ = threads_ + mbarriers_;
    times_.fill(1);
    read_.assign(threads_, 0);
    clocks_.begin_launch(threads_, entries_);
    for (std::vector<Clock>* clocks : {&fenced_, &pending_}) clocks->assign(threads_, {});
    begin_block();
}

// No phase of this block's mbarriers has ended.
void ThreadClocks::begin_block() {
    if (mbarriers_) {
        clocks_.clear_from(threads_);
        for (std::vector<Clock>* clocks : {&fenced_, &pending_})
            for (Clock& clock : *clocks) clock.clear();
    }
    phases_.clear();
    polled_.clear();
    seen_phases_.assign(mbarriers_, 0);
    begin_epoch();
}

// Times of earlier epochs stay in the clocks: all accesses of this epoch are later.
void ThreadClocks::begin_epoch() {
    for (std::uint32_t& time : times_) ++time;
    phases_before_epoch_ = seen_phases_;
    clocks_.share_all();
    words_.clear();
    observed_writes_.clear();
    for (Clock& barrier : barriers_) barrier.clear();
}

ThreadClocks::Clock ThreadClocks::published(std::uint32_t thread) const {
    Clock clock = clocks_[thread];
    clock[thread] = time_of(thread);
    return clock;
}

void ThreadClocks::publish(Clock& into, std::uint32_t warp, Lanes lanes) const {
    into.resize(entries_);
    clocks_.for_clocks(warp, lanes, [&](const Clock& clock) { join_clocks(into, clock); });
    for_each_lane(lanes, [&](unsigned lane) { into[warp * lanes_per_warp + lane] = times_[warp]; });
}

std::uint32_t ThreadClocks::unordered_lanes(std::uint32_t before, std::uint32_t time,
                                            std::uint32_t thread) const {
    const std::uint32_t* const seen = &clocks_[thread][before * lanes_per_warp];
    std::uint32_t unordered = 0;
    for (unsigned lane = 0; lane < lanes_per_warp; ++lane)
        unordered |= std::uint32_t(seen[lane] < time) << lane;
    return unordered;
}

void ThreadClocks::arrive(std::uint32_t barrier, std::uint32_t warp, Lanes lanes) {
    for_each_lane(lanes, [&](unsigned lane) { take_over_pending(warp * lanes_per_warp + lane); });
    publish(barriers_[barrier], warp, lanes);
    advance(warp);
}

void ThreadClocks::take_over_pending(std::uint32_t thread) {
    if (pending_[thread].empty()) return;
    join_clocks(clocks_.own(thread), pending_[thread]);
    pending_[thread].clear();
}

// The lanes have arrived, and have done nothing since.
void ThreadClocks::leave(std::uint32_t barrier, std::uint32_t warp, Lanes lanes) {
    clocks_.share(warp, lanes, barriers_[barrier]);
}

void ThreadClocks::warp_sync(std::uint32_t warp, Lanes members) {
    Clock* all = clocks_.shared_by(warp, members);
    if (!all) {
        Clock joined(entries_);
        clocks_.for_clocks(warp, members, [&](const Clock& one) { join_clocks(joined, one); });
        all = &clocks_.share(warp, members, joined);
    }
    for_each_lane(members,
                  [&](unsigned lane) { (*all)[warp * lanes_per_warp + lane] = times_[warp]; });
    advance(warp);
}

void ThreadClocks::fence(std::uint32_t warp, Lanes lanes, MemoryOrder order) {
    for_each_lane(lanes, [&](unsigned lane) {
        const std::uint32_t thread = warp * lanes_per_warp + lane;
        if (acquires(order)) take_over_pending(thread);
        if (releases(order)) fenced_[thread] = published(thread);
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
    Clock& into = acquires(order) ? clocks_.own(thread) : pending_[thread];
    into.resize(entries_);
    join_clocks(into, word->second.clock);
}

void ThreadClocks::write(std::uint64_t address, std::uint32_t thread, MemoryOrder order,
                         bool updates) {
    Clock now = releases(order) ? published(thread) : fenced_[thread];
    now.resize(entries_);
    Word& word = words_[address];
    word.version = ++version_;
    // A thread that has released the word releases it with each further strong write, too (PTX ISA
    // 8, "Release and Acquire Patterns").
    if ((updates || word.releaser == thread + 1) && !word.clock.empty())
        join_clocks(word.clock, now);
    else
        word.clock = std::move(now);
    if (releases(order))
        word.releaser = thread + 1;
    else if (word.releaser != thread + 1)
        word.releaser = 0;
    if (observes_) observed_writes_.write(address, updates, thread);
}

void ThreadClocks::overwrite(std::uint64_t address, std::uint32_t bytes, std::uint32_t thread) {
    if (words_.empty()) return;
    for (std::uint64_t a = address; a < address + bytes; ++a) words_.erase(a);
    if (observes_) observed_writes_.overwrite(address, bytes, thread, time_of(thread));
}

bool ThreadClocks::is_observed(std::uint64_t address, std::uint32_t write,
                               std::uint32_t thread) const {
    bool found = false;
    observed_writes_.for_chains(
        address,
        [&](std::uint32_t reader, std::uint32_t time) {
            return reader == thread || clocks_[thread][reader] >= time;
        },
        [&](const auto& chain) { found |= chain.holds(write); });
    return found;
}

// All clocks get entries for as many mbarriers again.
void ThreadClocks::add_mbarriers() {
    entries_ += mbarriers_;
    mbarriers_ *= 2;
    clocks_.resize(entries_);
    const auto resize = [&](Clock& clock) {
        if (!clock.empty()) clock.resize(entries_);
    };
    for (std::vector<Clock>* clocks : {&fenced_, &pending_})
        for (Clock& clock : *clocks) resize(clock);
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
        found->second.number = std::uint32_t(phases_.size() - 1);
    }
    return found->second;
}

void ThreadClocks::arrive_at_mbarrier(std::uint32_t mbarrier, std::uint32_t warp, Lanes lanes) {
    publish(phases_of(mbarrier).arriving, warp, lanes);
    advance(warp);
}

void ThreadClocks::end_phase(std::uint32_t mbarrier) {
    Phases& phases = phases_of(mbarrier);
    join_clocks(phases.ended, phases.arriving);
    std::fill(phases.arriving.begin(), phases.arriving.end(), 0);
}

void ThreadClocks::see_phase(std::uint32_t mbarrier, std::uint32_t warp, Lanes lanes,
                             std::uint32_t ended) {
    const Phases& phases = phases_of(mbarrier);
    clocks_.change(warp, lanes, [&](Clock& clock) {
        std::uint32_t& seen = clock[threads_ + phases.number];
        if (seen == ended) return;  // lanes that look again
        join_clocks(clock, phases.ended);
        seen = std::max(seen, ended);
    });
    std::uint32_t& seen = seen_phases_[phases.number];
    seen = std::max(seen, ended);
}

std::uint32_t ThreadClocks::phases_before(std::uint32_t number, std::uint32_t warp,
                                          Lanes lanes) const {
    std::uint32_t all = ~0u;
    clocks_.for_clocks(warp, lanes,
                       [&](const Clock& clock) { all = std::min(all, clock[threads_ + number]); });
    return std::max(phases_before_epoch_[number], all);
}

}  // namespace warpscope::emulator
