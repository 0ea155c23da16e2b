#include "emulator/observe/copy_accesses.h"

#include <algorithm>

#include "emulator/program/lanes.h"

namespace warpscope::emulator {

namespace {

/// The largest aligned access, of at most `largest` bytes, at an address with so many bytes left.
std::uint32_t unit_at(std::uint64_t address, std::uint32_t left, std::uint32_t largest) {
    const std::uint64_t bits = address | largest;  // the lowest one counts
    auto unit = std::uint32_t(bits & (0 - bits));
    while (unit > left) unit /= 2;
    return unit;
}

}  // namespace

void for_accesses(const AsyncCopy& copy, std::uint32_t parts, bool destinations, const Warp* state,
                  const std::function<void(const Access&)>& f) {
    const auto& addresses = destinations ? copy.to : copy.from;
    Access access{.block = state->block->block, .warp = copy.warp, .mask = parts, .pc = copy.pc};
    access.kind = !destinations ? MemoryAccess::load
                  : copy.join   ? MemoryAccess::atomic
                                : MemoryAccess::store;
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
    std::uint64_t of_lanes[lanes_per_warp]{};
    std::uint64_t& address = of_lanes[copy.lane];
    access.bulk = true;
    access.mask = 1u << unsigned(copy.lane);
    access.lane_addresses = of_lanes;
    access.same_address = true;
    const bool in_shared = destinations ? copy.to_shared : copy.from_shared;
    const std::uint32_t largest = copy.swizzle == Swizzle::none ? 256 : 16;
    for_each_lane(parts, [&](unsigned part) {
        const std::uint32_t bytes = destinations ? copy.bytes[part] : copy.read[part];
        for (std::uint32_t done = 0; done < bytes; done += access.bytes) {
            address = addresses[part] + done;
            access.bytes = unit_at(address, bytes - done, largest);
            if (in_shared) address = swizzled(copy.swizzle, address);
            f(access);
        }
    });
}

}  // namespace warpscope::emulator
