#include "emulator/races/access_events.h"

#include <algorithm>

namespace warpscope::emulator {

void AccessEvents::begin_launch(std::size_t warps, std::size_t instructions) {
    instructions_ = instructions;
    newest_.assign(warps * instructions, 0);
}

void AccessEvents::begin_epoch() {
    epoch_first_ = next_;
    separate_all();
    events_.clear();
}

std::uint32_t AccessEvents::add(const Access& a, const Moment& moment) {
    events_.push_back({moment, a.pc, a.warp});
    return newest_[a.warp * instructions_ + a.pc] = next_++;
}

bool AccessEvents::is_full() const {
    constexpr std::size_t most_events = 1 << 20;
    return events_.size() >= most_events;
}

std::vector<std::uint32_t> AccessEvents::compact(const std::vector<bool>& used) {
    std::vector<std::uint32_t> numbers(events_.size());
    std::vector<AccessEvent> kept;
    for (std::size_t k = 0; k < events_.size(); ++k) {
        if (!used[k]) continue;
        numbers[k] = epoch_first_ + std::uint32_t(kept.size());
        kept.push_back(events_[k]);
    }
    std::fill(newest_.begin(), newest_.end(), 0);
    events_ = std::move(kept);
    next_ = epoch_first_ + std::uint32_t(events_.size());
    separate_all();
    return numbers;
}

void AccessEvents::restart_numbers() {
    std::fill(newest_.begin(), newest_.end(), 0);
    next_ = 1;
}

}  // namespace warpscope::emulator
