#include "emulator/races/async/proxy_fences.h"

#include <algorithm>

#include "emulator/program/lanes.h"

namespace warpscope::emulator {

void ProxyFences::begin_launch(const Kernel& kernel, std::uint32_t shared_bytes) {
    stores_.assign(kernel.has_bulk_copies ? shared_bytes / word_bytes + 1 : 0, {});
}

void ProxyFences::begin_block(const ThreadClocks& clocks) {
    if (!is_needed()) return;
    std::fill(stores_.begin(), stores_.end(), Store{});
    fenced_.assign(clocks.threads(), 0);
    first_stored_ = stores_.size(), stored_end_ = 0;
    begin_epoch(clocks);
}

void ProxyFences::begin_epoch(const ThreadClocks& clocks) {
    if (!is_needed()) return;
    for (std::uint32_t warp = 0; warp < before_epoch_.size(); ++warp)
        before_epoch_[warp] = clocks.now(warp) - 1;
    epoch_has_fence_ = false;
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

void ProxyFences::fence(const ThreadClocks& clocks, std::uint32_t warp, std::uint32_t lanes) {
    if (!is_needed()) return;
    for (std::uint32_t thread = 0; !epoch_has_fence_ && thread < clocks.threads(); ++thread)
        fenced_[thread] = std::max(fenced_[thread], before_epoch_[thread / lanes_per_warp]);
    epoch_has_fence_ = true;
    clocks.publish(fenced_, warp, lanes);
}

void ProxyFences::check(const AsyncEvent& event, RaceReport& report) const {
    const AsyncCopy& copy = *event.copy;
    if (copy.lane < 0 || copy.has_values) return;  // st.async is of the generic proxy
    if (copy.completion == Completion::mbarrier && copy.mbarrier_rank < 0)
        check_bytes(copy.mbarrier, 8, Hazard::read_after_write, event, report);
    for_each_lane(copy.parts, [&](unsigned part) {
        if (copy.from_shared)
            check_bytes(copy.from[part], copy.bytes[part], Hazard::read_after_write, event, report);
        if (copy.to_shared && copy.to_rank < 0)
            check_bytes(copy.to[part], copy.bytes[part], Hazard::write_after_write, event, report);
    });
}

void ProxyFences::check_bytes(std::uint64_t first, std::uint64_t bytes, Hazard hazard,
                              const AsyncEvent& event, RaceReport& report) const {
    const std::uint64_t end = std::min((first + bytes) / word_bytes, stored_end_);
    for (std::uint64_t word = std::max(first / word_bytes, first_stored_); word < end; ++word) {
        const Store& store = stores_[word];
        if (is_fenced(store)) continue;
        Conflict conflict{.hazard = hazard};
        conflict.earlier.pc = store.pc;
        conflict.earlier.warp = store.thread / lanes_per_warp;
        conflict.earlier_lane = store.thread % lanes_per_warp;
        conflict.lane = unsigned(event.copy->lane);
        conflict.byte = std::uint32_t(word * word_bytes);
        conflict.lacks_proxy_fence = true;
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
}

}  // namespace warpscope::emulator
