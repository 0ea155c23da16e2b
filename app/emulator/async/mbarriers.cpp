#include "emulator/async/mbarriers.h"

#include <algorithm>
#include <utility>

namespace warpscope::emulator {

std::uint64_t Mbarrier::state() const {
    return std::uint64_t(phase & 1) << 63 | (std::uint64_t(bytes) & 0x7FFFFF) << 40 |
           std::uint64_t(expected) << 20 | pending;
}

bool Mbarrier::count(std::uint32_t arrivals) {
    if (arrivals > pending) return false;
    pending -= arrivals;
    return true;
}

bool Mbarrier::arrive(std::uint32_t warp, unsigned lane, std::uint32_t arrivals) {
    if (!count(arrivals)) return false;
    arrived[warp] |= 1u << lane;
    return true;
}

bool Mbarrier::end_phase() {
    if (pending || bytes) return false;
    pending = expected;
    ++phase;
    announced = 0;
    added = 0;
    arrived_before = std::exchange(arrived, {});
    return true;
}

Mbarrier* Mbarriers::find(std::uint32_t address) {
    const auto found = std::find_if(barriers_.begin(), barriers_.end(),
                                    [&](const Mbarrier& b) { return b.address == address; });
    return found == barriers_.end() ? nullptr : &*found;
}

Mbarrier& Mbarriers::init(std::uint32_t address, std::uint32_t count) {
    Mbarrier* barrier = find(address);
    if (!barrier) barrier = &barriers_.emplace_back();
    *barrier = {.address = address, .expected = count, .pending = count};
    return *barrier;
}

void Mbarriers::invalidate(std::uint32_t address) {
    std::erase_if(barriers_, [&](const Mbarrier& b) { return b.address == address; });
}

}  // namespace warpscope::emulator
