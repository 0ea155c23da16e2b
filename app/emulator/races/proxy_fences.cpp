#include "emulator/races/proxy_fences.h"

#include <algorithm>

#include "emulator/program/lanes.h"

namespace warpscope::emulator {

void ProxyFences::begin_launch(const Kernel& kernel, std::uint32_t shared_bytes) {
    stores_.assign(kernel.has_bulk_copies ? shared_bytes / word_bytes + 1 : 0, {});
}

void ProxyFences::begin_block(const ThreadClocks& clocks) {
    if (!is_needed()) return;
    std::fill(stores_.begin(), stores_.end(), Store{});
    first_stored_ = stores_.size(), stored_end_ = 0;
    global_stores_.clear();
    global_begin_ = ~0ull, global_end_ = 0;
    for (Fences* fences : {&shared_, &global_}) fences->until.assign(clocks.threads(), 0);
    begin_epoch(clocks);
}

void ProxyFences::begin_epoch(const ThreadClocks& clocks) {
    if (!is_needed()) return;
    for (std::uint32_t warp = 0; warp < before_epoch_.size(); ++warp)
        before_epoch_[warp] = clocks.now(warp) - 1;
    for (Fences* fences : {&shared_, &global_}) fences->epoch_has_one = false;
}

void ProxyFences::store(const Access& access, const ThreadClocks& clocks) {
    const std::uint32_t time = clocks.now(access.warp);
    for_each_lane(access.mask, [&](unsigned lane) {
        const std::uint64_t first = access.address(lane) / word_bytes;
        const std::uint64_t end = std::min<std::uint64_t>(
            stores_.size(), (access.address(lane) + access.bytes - 1) / word_bytes + 1);
        for (std::uint64_t word = first; word < end; ++word)
            stores_[word] = {time, access.pc, access.warp * lanes_per_warp + lane};
        first_stored_ = std::min(first_stored_, first);
        stored_end_ = std::max(stored_end_, end);
    });
}

void ProxyFences::store_global(const Access& access, const ThreadClocks& clocks) {
    constexpr std::size_t most_stores = 1 << 20;  // 40 MiB
    const std::uint32_t time = clocks.now(access.warp);
    unsigned next_lane = lanes_per_warp;
    for_each_lane(access.mask, [&](unsigned lane) {
        const std::uint64_t begin = access.address(lane), end = begin + access.bytes;
        const bool goes_on = lane == next_lane && begin == global_stores_.back().end;
        if (!goes_on && global_stores_.size() == most_stores) return;
        if (!goes_on)
            global_stores_.push_back(
                {begin, end, {time, access.pc, access.warp * lanes_per_warp + lane}, access.bytes});
        global_stores_.back().end = end;
        next_lane = lane + 1;
        global_begin_ = std::min(global_begin_, begin);
        global_end_ = std::max(global_end_, end);
    });
}

void ProxyFences::fence(const ThreadClocks& clocks, std::uint32_t warp, std::uint32_t lanes,
                        Space space) {
    if (!is_needed()) return;
    if (space != Space::global) fence(shared_, clocks, warp, lanes);
    if (space != Space::shared) fence(global_, clocks, warp, lanes);
}

void ProxyFences::fence(Fences& fences, const ThreadClocks& clocks, std::uint32_t warp,
                        std::uint32_t lanes) const {
    for (std::uint32_t thread = 0; !fences.epoch_has_one && thread < clocks.threads(); ++thread)
        fences.until[thread] =
            std::max(fences.until[thread], before_epoch_[thread / lanes_per_warp]);
    fences.epoch_has_one = true;
    clocks.publish(fences.until, warp, lanes);
}

void ProxyFences::check(const AsyncEvent& event, RaceReport& report) const {
    const AsyncCopy& copy = *event.copy;
    if (copy.lane < 0 || copy.has_values) return;  // st.async is of the generic proxy
    if (copy.completion == Completion::mbarrier && copy.mbarrier_rank < 0)
        check_shared(copy.mbarrier, 8, Hazard::read_after_write, event, report);
    for_each_lane(copy.parts, [&](unsigned part) {
        const auto from =
            copy.from_shared ? &ProxyFences::check_shared : &ProxyFences::check_global;
        (this->*from)(copy.from[part], copy.bytes[part], Hazard::read_after_write, event, report);
        if (copy.to_rank >= 0) return;
        const auto to = copy.to_shared ? &ProxyFences::check_shared : &ProxyFences::check_global;
        (this->*to)(copy.to[part], copy.bytes[part], Hazard::write_after_write, event, report);
    });
}

namespace {

/// The conflict of a copy with a store by this thread, without the place in memory.
Conflict conflict_of(Hazard hazard, std::uint32_t pc, std::uint32_t thread,
                     const AsyncEvent& event) {
    Conflict conflict{.hazard = hazard};
    conflict.earlier.pc = pc;
    conflict.earlier.warp = thread / lanes_per_warp;
    conflict.earlier_lane = thread % lanes_per_warp;
    conflict.lane = unsigned(event.copy->lane);
    conflict.lacks_proxy_fence = true;
    return conflict;
}

void add(const Conflict& conflict, std::uint32_t word_bytes, const AsyncEvent& event,
         RaceReport& report) {
    const Access later{.block = event.state->block->block,
                       .warp = event.warp,
                       .mask = 1u << conflict.lane,
                       .bytes = word_bytes,
                       .kind = MemoryAccess::load,
                       .pc = event.copy->pc,
                       .state = event.state};
    report.mark(conflict, word_bytes, 1);
    report.add(conflict, later, 1);
}

}  // namespace

void ProxyFences::check_shared(std::uint64_t first, std::uint64_t bytes, Hazard hazard,
                               const AsyncEvent& event, RaceReport& report) const {
    const std::uint64_t end = std::min((first + bytes) / word_bytes, stored_end_);
    for (std::uint64_t word = std::max(first / word_bytes, first_stored_); word < end; ++word) {
        const Store& store = stores_[word];
        if (shared_.follows(store)) continue;
        Conflict conflict = conflict_of(hazard, store.pc, store.thread, event);
        conflict.byte = std::uint32_t(word * word_bytes);
        add(conflict, word_bytes, event, report);
    }
}

void ProxyFences::check_global(std::uint64_t first, std::uint64_t bytes, Hazard hazard,
                               const AsyncEvent& event, RaceReport& report) const {
    const std::uint64_t end = first + bytes;
    if (end <= global_begin_ || global_end_ <= first) return;
    for (const GlobalStore& stores : global_stores_) {
        const std::uint64_t both_end = std::min(end, stores.end);
        for (std::uint64_t byte = std::max(first, stores.begin); byte < both_end;
             byte += word_bytes) {
            Store store = stores.first;
            store.thread += std::uint32_t((byte - stores.begin) / stores.bytes_of_lane);
            if (global_.follows(store)) continue;
            Conflict conflict = conflict_of(hazard, store.pc, store.thread, event);
            conflict.global_address = byte;
            add(conflict, word_bytes, event, report);
        }
    }
}

}  // namespace warpscope::emulator
