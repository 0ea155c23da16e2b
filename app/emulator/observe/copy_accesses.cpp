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
    constexpr std::uint32_t largest = 256;
    std::uint64_t address = 0;
    access.bulk = true;
    access.mask = 1u << unsigned(copy.lane);
    access.lane_addresses = &address;
    access.same_address = true;
    for_each_lane(parts, [&](unsigned part) {
        for (std::uint32_t done = 0; done < copy.bytes[part]; done += access.bytes) {
            address = addresses[part] + done;
            // The lowest bit: no more than `largest`, also of address 0.
            const std::uint64_t bits = address | largest;
            access.bytes = std::uint32_t(bits & (0 - bits));
            while (access.bytes > copy.bytes[part] - done) access.bytes /= 2;
            f(access);
        }
    });
}

}  // namespace warpscope::emulator
