#include "emulator/observe/copy_accesses.h"

#include <algorithm>

#include "emulator/warp/members.h"

namespace warpscope::emulator {

void for_accesses(const AsyncCopy& copy, std::uint32_t parts, bool destinations, const Warp* state,
                  const std::function<void(const Access&)>& f) {
    const auto& addresses = destinations ? copy.to : copy.from;
    Access access{.block = state->block->block, .warp = copy.warp, .mask = parts, .pc = copy.pc};
    access.kind = destinations ? MemoryAccess::store : MemoryAccess::load;
    access.state = state;
    access.asynchronous = true;
    if (copy.lane < 0) {
        access.lane_addresses = addresses.data();
        access.bytes = *std::max_element(copy.bytes.begin(), copy.bytes.end());
        for_each_lane(destinations ? 0 : parts, [&](unsigned lane) {
            if (!copy.read[lane]) access.mask &= ~(1u << lane);
        });
        if (access.mask) f(access);
        return;
    }
    if (copy.has_values && !destinations) return;
    constexpr std::uint32_t unit = 16;
    std::uint64_t of_lanes[lanes_per_warp]{};
    std::uint64_t& address = of_lanes[copy.lane];
    access.bulk = true;
    access.mask = 1u << unsigned(copy.lane);
    access.lane_addresses = of_lanes;
    access.same_address = true;
    for_each_lane(parts, [&](unsigned part) {
        for (std::uint32_t done = 0; done < copy.bytes[part]; done += unit) {
            address = addresses[part] + done;
            access.bytes = std::min(unit, copy.bytes[part] - done);
            f(access);
        }
    });
}

}  // namespace warpscope::emulator
