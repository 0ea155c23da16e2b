// Asynchronous copies and mbarriers (PTX ISA 9.7.9.25 and 9.7.13.15).
#include <fmt/format.h>

#include <algorithm>

#include "emulator/async/async_copies.h"
#include "emulator/handlers/handlers.h"
#include "emulator/warp/members.h"

namespace warpscope::emulator {

namespace {

std::uint64_t address_in(const Warp& w, unsigned lane, std::uint32_t operand, bool wide) {
    return wide ? w.get<std::uint64_t>(operand, lane) : w.get<std::uint32_t>(operand, lane);
}

/// A checked address of `bytes` bytes: an offset into shared memory, or a global address.
std::uint64_t place_of(const Instruction* i, Warp& w, unsigned lane, Space space,
                       std::uint64_t address, unsigned bytes, unsigned align) {
    if (space == Space::shared && address - shared_window < window_size) address -= shared_window;
    const std::byte* const place = w.checked_address(i, lane, space, address, bytes, align);
    return space == Space::shared ? std::uint64_t(place - w.block->shared) : std::uint64_t(place);
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
    copy.to_shared = form.to == Space::shared;
    return copy;
}

std::uint32_t read_bytes(const Instruction* i, Warp& w, unsigned lane, const CopyForm& form) {
    if (form.size == CopyForm::Size::fixed) return form.bytes;
    if (form.size == CopyForm::Size::ignorable)
        return w.predicate(i->operands[2]) >> lane & 1 ? 0 : form.bytes;
    const auto read = w.get<std::uint32_t>(i->operands[2], lane);
    if (read > form.bytes)
        w.fail(i, lane, fmt::format("{} bytes cannot be read for a copy of {}", read, form.bytes));
    return read;
}

Mbarrier& mbarrier_at(const Instruction* i, Warp& w, unsigned lane, std::uint32_t offset) {
    Mbarrier* const found = w.block->async->mbarriers().find(offset);
    if (!found)
        w.fail(i, lane,
               fmt::format("no mbarrier has been initialised at byte {} of shared memory: "
                           "mbarrier.init must come first, and a barrier of the block behind it",
                           offset));
    return *found;
}

std::uint32_t offset_of_mbarrier(const Instruction* i, Warp& w, unsigned lane) {
    const std::byte* const place = atomic_target(i, w, lane, 8);
    const auto offset = std::uint64_t(place - w.block->shared);
    if (offset >= w.block->shared_bytes) w.fail(i, lane, "an mbarrier lies in shared memory");
    return std::uint32_t(offset);
}

Mbarrier& mbarrier_of(const Instruction* i, Warp& w, unsigned lane) {
    return mbarrier_at(i, w, lane, offset_of_mbarrier(i, w, lane));
}

std::uint32_t value_of(const Instruction* i, const Warp& w, unsigned lane,
                       std::uint32_t otherwise) {
    return i->operands[2] ? w.get<std::uint32_t>(i->operands[2], lane) : otherwise;
}

void arrive(const Instruction* i, Warp& w, unsigned lane, Mbarrier& barrier, std::uint32_t count) {
    const std::uint32_t pending = barrier.pending;
    if (!w.block->async->arrive(barrier, w.index, lane, count))
        w.fail(i, lane,
               fmt::format("{} arrivals at the mbarrier at byte {} of shared memory, of which this "
                           "phase expects only {} more, of {}",
                           count, barrier.address, pending, barrier.expected));
}

const Instruction* mbarrier_init(const Instruction* i, Warp& w) {
    for_each_lane(w.mask, [&](unsigned lane) {
        const std::uint32_t count = value_of(i, w, lane, 0);
        if (count == 0 || count > Mbarrier::largest_count)
            w.fail(i, lane,
                   fmt::format("an mbarrier expects 1 to {} arrivals, not {}",
                               Mbarrier::largest_count, count));
        w.block->async->init(offset_of_mbarrier(i, w, lane), count);
    });
    return w.cost_point(i, i + 1);
}

const Instruction* mbarrier_invalidate(const Instruction* i, Warp& w) {
    for_each_lane(w.mask, [&](unsigned lane) {
        w.block->async->mbarriers().invalidate(mbarrier_of(i, w, lane).address);
    });
    return w.cost_point(i, i + 1);
}

/// Divides a bulk copy into parts of whole 128 bytes, as far as 32 parts are enough.
void divide(AsyncCopy& copy, std::uint64_t to, std::uint64_t from, std::uint32_t bytes) {
    constexpr std::uint32_t line = 128;
    const std::uint32_t of_part = (bytes / lanes_per_warp + line) / line * line;
    for (std::uint32_t part = 0, done = 0; done < bytes; ++part, done += of_part) {
        copy.parts |= 1u << part;
        copy.to[part] = to + done;
        copy.from[part] = from + done;
        copy.bytes[part] = copy.read[part] = std::min(of_part, bytes - done);
    }
}

/// The forms of mbarrier.arrive.
struct ArrivalForm {
    bool drops = false;          ///< later phases expect fewer arrivals (arrive_drop)
    bool expects_bytes = false;  ///< the value is bytes, not a count (.expect_tx)
    bool keeps_phase = false;    ///< it must not end the phase (.noComplete)
};

template <ArrivalForm form>
const Instruction* mbarrier_arrive(const Instruction* i, Warp& w) {
    for_each_lane(w.mask, [&](unsigned lane) {
        Mbarrier& barrier = mbarrier_of(i, w, lane);
        const std::uint64_t state = barrier.state();
        const std::uint32_t count = form.expects_bytes ? 1 : value_of(i, w, lane, 1);
        if (form.keeps_phase && count >= barrier.pending)
            w.fail(i, lane, "an arrival with .noComplete would end the phase");
        if (form.expects_bytes) barrier.expect(value_of(i, w, lane, 0));
        if (form.drops && count <= barrier.expected) barrier.expected -= count;
        arrive(i, w, lane, barrier, count);
        if (i->operands[0]) w.set(i->operands[0], lane, state);
    });
    return w.cost_point(i, i + 1);
}

template <bool completes>
const Instruction* mbarrier_bytes(const Instruction* i, Warp& w) {
    for_each_lane(w.mask, [&](unsigned lane) {
        Mbarrier& barrier = mbarrier_of(i, w, lane);
        const std::int64_t bytes = value_of(i, w, lane, 0);
        if (completes)
            w.block->async->complete_bytes(barrier, bytes);
        else
            w.block->async->expect_bytes(barrier, bytes);
    });
    return w.cost_point(i, i + 1);
}

template <bool adds>
const Instruction* mbarrier_arrive_of_copies(const Instruction* i, Warp& w) {
    for_each_lane(w.mask, [&](unsigned lane) {
        Mbarrier& barrier = mbarrier_of(i, w, lane);
        if (adds) ++barrier.pending;
        w.block->async->arrive_when_landed(barrier, w.index, lane);
    });
    return w.cost_point(i, i + 1);
}

/// test_wait and try_wait. A GPU suspends a thread that waits; here its warp's turn ends, and the
/// instruction has the result false.
template <bool by_parity>
const Instruction* mbarrier_wait(const Instruction* i, Warp& w) {
    std::uint32_t ended = 0;
    MbarrierWait wait{.pc = w.block->kernel->index_of(i)};
    for_each_lane(w.mask, [&](unsigned lane) {
        const Mbarrier& barrier = mbarrier_of(i, w, lane);
        const std::uint32_t parity =
            by_parity ? w.get<std::uint32_t>(i->operands[2], lane)
                      : Mbarrier::parity_of(w.get<std::uint64_t>(i->operands[2], lane));
        if (!barrier.has_ended(parity)) {
            wait.lane = lane;
            wait.barrier = barrier.address;
            wait.parity = parity;
            return;
        }
        ended |= 1u << lane;
        w.block->async->phase_seen(barrier, w.index, lane);
    });
    std::uint32_t& p = w.predicate(i->operands[0]);
    p = (p & ~w.mask) | ended;
    if (ended) return w.cost_point(i, i + 1);
    w.block->async->wait_failed(w.index, wait);
    w.left -= i->cost;
    return w.pause(i + 1);
}

}  // namespace

const Instruction* async_copy(const Instruction* i, Warp& w) {
    const CopyForm form(i->target);
    AsyncCopy copy = copy_of(i, w, form);
    copy.parts = w.mask;
    copy.bytes.fill(form.bytes);
    for_each_lane(w.mask, [&](unsigned lane) {
        copy.read[lane] = read_bytes(i, w, lane, form);
        copy.to[lane] =
            place_of(i, w, lane, form.to, to_of(i, w, lane, form), form.bytes, form.bytes);
        if (copy.read[lane])
            copy.from[lane] = place_of(i, w, lane, form.from, from_of(i, w, lane, form),
                                       copy.read[lane], form.bytes);
    });
    w.block->async->start(copy, w);
    return w.cost_point(i, i + 1);
}

const Instruction* bulk_copy(const Instruction* i, Warp& w) {
    const CopyForm form(i->target);
    for_each_lane(w.mask, [&](unsigned lane) {
        AsyncCopy copy = copy_of(i, w, form);
        copy.lane = int(lane);
        const auto bytes = w.get<std::uint32_t>(i->operands[2], lane);
        if (bytes % 16)
            w.fail(i, lane, fmt::format("a bulk copy has a multiple of 16 bytes, not {}", bytes));
        const std::uint64_t to = place_of(i, w, lane, form.to, to_of(i, w, lane, form), bytes, 16);
        divide(copy, to, place_of(i, w, lane, form.from, from_of(i, w, lane, form), bytes, 16),
               bytes);
        copy.completion = form.counts_bytes ? Completion::mbarrier : Completion::bulk_group;
        if (form.counts_bytes) {
            const std::uint64_t address = address_in(w, lane, i->operands[3], form.wide_mbarrier);
            copy.mbarrier = std::uint32_t(place_of(i, w, lane, Space::shared, address, 8, 8));
            mbarrier_at(i, w, lane, copy.mbarrier);
        }
        w.block->async->start(copy, w);
    });
    return w.cost_point(i, i + 1);
}

const Instruction* close_group(const Instruction* i, Warp& w) {
    w.block->async->commit(w.index, w.mask, Completion(i->detail));
    return w.cost_point(i, i + 1);
}

const Instruction* wait_for_groups(const Instruction* i, Warp& w) {
    PerLane but;
    but.fill(w.get<std::uint32_t>(i->operands[0], 0));
    w.block->async->wait_groups(w.index, w.mask, Completion(i->detail & 3), but,
                                i->detail & wait_for_reads);
    return w.cost_point(i, i + 1);
}

const Instruction* wait_for_copies(const Instruction* i, Warp& w) {
    w.block->async->wait_all(w.index, w.mask);
    return w.cost_point(i, i + 1);
}

const Instruction* proxy_fence(const Instruction* i, Warp& w) {
    w.block->async->fence(w.index, w.mask);
    return w.cost_point(i, i + 1);
}

const Instruction* pending_count(const Instruction* i, Warp& w) {
    for_each_lane(w.mask, [&](unsigned lane) {
        w.set(i->operands[0], lane,
              Mbarrier::pending_of(w.get<std::uint64_t>(i->operands[1], lane)));
    });
    return w.cost_point(i, i + 1);
}

Handler mbarrier_handler(Operation operation, bool adds) {
    switch (operation) {
        case Operation::mbarrier_init:
            return mbarrier_init;
        case Operation::mbarrier_inval:
            return mbarrier_invalidate;
        case Operation::mbarrier_arrive:
            return mbarrier_arrive<ArrivalForm{}>;
        case Operation::mbarrier_arrive_part:
            return mbarrier_arrive<ArrivalForm{.keeps_phase = true}>;
        case Operation::mbarrier_arrive_bytes:
            return mbarrier_arrive<ArrivalForm{.expects_bytes = true}>;
        case Operation::mbarrier_drop:
            return mbarrier_arrive<ArrivalForm{.drops = true}>;
        case Operation::mbarrier_drop_bytes:
            return mbarrier_arrive<ArrivalForm{.drops = true, .expects_bytes = true}>;
        case Operation::mbarrier_expect_bytes:
            return mbarrier_bytes<false>;
        case Operation::mbarrier_complete_bytes:
            return mbarrier_bytes<true>;
        case Operation::mbarrier_test_state:
        case Operation::mbarrier_wait_state:
            return mbarrier_wait<false>;
        case Operation::mbarrier_test_parity:
        case Operation::mbarrier_wait_parity:
            return mbarrier_wait<true>;
        default:
            return adds ? mbarrier_arrive_of_copies<true> : mbarrier_arrive_of_copies<false>;
    }
}

}  // namespace warpscope::emulator
