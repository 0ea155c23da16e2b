#include "emulator/observe/block_summaries.h"

#include <bit>

namespace warpscope::emulator {

void ModelAccesses::add(const Access& access, bool is_global) {
    kept_.push_back({access, addresses_.size(), is_global});
    Access& a = kept_.back().access;
    a.consecutive = !a.same_address && access.is_consecutive();
    a.consecutive_halves |= a.consecutive;
    a.lane_addresses = nullptr;
    const bool is_one = a.same_address || a.consecutive;
    for (unsigned lane = 0; lane < lanes_per_warp; ++lane) {
        if (!(a.mask >> lane & 1)) {
            if (!is_one) addresses_.push_back(0);
            continue;
        }
        addresses_.push_back(access.lane_addresses[lane]);
        if (is_one) return;
    }
}

Access ModelAccesses::moved(std::size_t number, std::uint64_t distance,
                            Addresses& addresses) const {
    const Kept& kept = kept_[number];
    Access access = kept.access;
    access.lane_addresses = addresses.data();
    const std::uint64_t* const from = &addresses_[kept.addresses];
    if (access.same_address) {
        addresses[std::size_t(std::countr_zero(access.mask))] = *from + distance;
    } else if (access.consecutive) {
        for (unsigned lane = 0; lane < lanes_per_warp; ++lane)
            addresses[lane] = *from + distance + lane * access.bytes;
    } else {
        for (unsigned lane = 0; lane < lanes_per_warp; ++lane)
            addresses[lane] = from[lane] + distance;
    }
    return access;
}

}  // namespace warpscope::emulator
