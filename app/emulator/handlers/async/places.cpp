#include "emulator/handlers/async/places.h"

#include <fmt/format.h>

#include "emulator/warp/cluster.h"

namespace warpscope::emulator {

Place place_of(const Instruction* i, Warp& w, unsigned lane, Space space, std::uint64_t address,
               unsigned bytes, unsigned align) {
    if (space == Space::shared && address - shared_window < window_size) address -= shared_window;
    const std::byte* const place = w.checked_address(i, lane, space, address, bytes, align);
    if (space == Space::shared) return {std::uint64_t(place - w.block->shared)};
    if (space != Space::cluster) return {std::uint64_t(place)};
    const SharedPlace found = shared_place(*w.block, address);
    return {found.offset, found.block == w.block ? -1 : int(found.block->rank)};
}

std::uint64_t to_of(const Instruction* i, const Warp& w, unsigned lane, const CopyForm& form) {
    return address_in(w, lane, i->operands[0], form.wide_to) +
           std::uint64_t(std::int64_t(std::int32_t(i->immediate)));
}
std::uint64_t from_of(const Instruction* i, const Warp& w, unsigned lane, const CopyForm& form) {
    return address_in(w, lane, i->operands[1], form.wide_from) + std::uint64_t(i->immediate >> 32);
}

AsyncCopy copy_of(const Instruction* i, const Warp& w, const CopyForm& form) {
    AsyncCopy copy;
    copy.pc = w.block->kernel->index_of(i);
    copy.warp = w.index;
    copy.from_shared = form.from == Space::shared;
    copy.to_shared = form.to != Space::global;
    return copy;
}

MbarrierPlace mbarrier_at(const Instruction* i, Warp& w, unsigned lane, const Place& place) {
    const bool own = place.rank < 0;
    AsyncCopies& copies =
        own ? *w.block->async : *w.block->cluster->block(std::uint32_t(place.rank)).async;
    Mbarrier* const found = copies.mbarriers().find(std::uint32_t(place.address));
    if (!found)
        w.fail(i, lane,
               fmt::format("no mbarrier has been initialised at byte {} of shared memory{}: "
                           "mbarrier.init must come first, and a barrier of the {} behind it",
                           place.address,
                           own ? "" : fmt::format(" of block {} of the cluster", place.rank),
                           own ? "block" : "cluster"));
    return {*found, copies, place.rank};
}

}  // namespace warpscope::emulator
