#include "emulator/happens_before/warp_clocks.h"

#include <algorithm>

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

}  // namespace warpscope::emulator
