#pragma once

#include <cstdint>
#include <set>

#include "emulator/counters/kernel_counters.h"
#include "emulator/observe/observer.h"
#include "emulator/program/lanes.h"

namespace warpscope::emulator {

inline constexpr unsigned sector_bytes = 32;  ///< the unit in which global memory is transferred

/// The accesses of one texture or surface instruction of a warp, which are one request: what
/// several lanes read, or several elements of a filter, is transferred once.
class TextureRequest {
  public:
    /// Returns what an access adds to the request; Access::Image::first begins a new one.
    MemoryCounts add(const Access& a) {
        if (a.image == Access::Image::first) *this = {};
        const auto least = [&] { return (bytes_ + sector_bytes - 1) / sector_bytes; };
        const std::uint64_t sectors_before = sectors_.size(), least_before = least();
        for_each_lane(a.mask, [&](unsigned lane) {
            const std::uint64_t address = a.address(lane);
            if (!elements_.insert(address).second) return;
            bytes_ += a.bytes;
            const std::uint64_t last = (address + a.bytes - 1) / sector_bytes;
            for (std::uint64_t s = address / sector_bytes; s <= last; ++s) sectors_.insert(s);
        });
        return {.requests = a.image == Access::Image::first,
                .bytes = std::uint64_t(lane_count(a.mask)) * a.bytes,
                .sectors = sectors_.size() - sectors_before,
                .least_sectors = least() - least_before};
    }

  private:
    std::set<std::uint64_t> elements_, sectors_;  ///< addresses; numbers of sectors
    std::uint64_t bytes_ = 0;                     ///< of the elements
};

}  // namespace warpscope::emulator
