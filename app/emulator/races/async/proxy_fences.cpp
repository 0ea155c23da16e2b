#include "emulator/races/async/proxy_fences.h"

#include <algorithm>

#include "emulator/program/lanes.h"
#include "emulator/ptx/opcodes.h"

namespace warpscope::emulator {

void ProxyFences::begin_launch(const Kernel& kernel, std::uint32_t threads,
                               std::uint32_t shared_bytes) {
    const bool has_bulk_copies =
        std::any_of(kernel.code.begin(), kernel.code.end(), [](const Instruction& i) {
            return i.operation == Operation::cp_bulk || i.operation == Operation::cp_tensor ||
                   i.operation == Operation::cp_bulk_reduce ||
                   i.operation == Operation::cp_tensor_reduce;
        });
    stores_.assign(has_bulk_copies ? shared_bytes / word_bytes + 1 : 0, {});
    fences_.assign((threads + lanes_per_warp - 1) / lanes_per_warp * lanes_per_warp, 0);
    time_ = epoch_ = fenced_epoch_ = 0;
}

// What the blocks before have stored is known to be fenced: time goes on.
void ProxyFences::begin_block() {
    fenced_epoch_ = epoch_ = ++time_;
}

void ProxyFences::store(const Access& access) {
    ++time_;
    for_each_lane(access.mask, [&](unsigned lane) {
        const std::uint64_t first = access.address(lane) / word_bytes;
        const std::uint64_t last = (access.address(lane) + access.bytes - 1) / word_bytes;
        for (std::uint64_t word = first; word <= last && word < stores_.size(); ++word)
            stores_[word] = {time_, access.pc, access.warp * lanes_per_warp + lane};
    });
}

void ProxyFences::fence(std::uint32_t warp, std::uint32_t lanes) {
    ++time_;
    for_each_lane(lanes, [&](unsigned lane) { fences_[warp * lanes_per_warp + lane] = time_; });
    fenced_epoch_ = epoch_;
}

void ProxyFences::check(const AsyncEvent& event, RaceReport& report) const {
    const AsyncCopy& copy = *event.copy;
    if (copy.lane < 0 || copy.has_values) return;  // st.async is of the generic proxy
    if (copy.completion == Completion::mbarrier && copy.mbarrier_rank < 0)
        check_bytes(copy.mbarrier, 8, event, report);
    if (!copy.from_shared) return;
    for_each_lane(copy.parts, [&](unsigned part) {
        check_bytes(copy.from[part], copy.bytes[part], event, report);
    });
}

void ProxyFences::check_bytes(std::uint64_t first, std::uint64_t bytes, const AsyncEvent& event,
                              RaceReport& report) const {
    for (std::uint64_t word = first / word_bytes; word < (first + bytes) / word_bytes; ++word) {
        const Store& store = stores_[word];
        if (is_fenced(store)) continue;
        Conflict conflict{.hazard = Hazard::read_after_write};
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
