// Asynchronous copies and mbarriers (PTX ISA 9.7.9.25 and 9.7.13.15).
#include <fmt/format.h>

#include "emulator/async/async_copies.h"
#include "emulator/handlers/async/places.h"
#include "emulator/handlers/handlers.h"
#include "emulator/warp/members.h"

namespace warpscope::emulator {

namespace {

std::uint32_t read_bytes(const Instruction* i, Warp& w, unsigned lane, const CopyForm& form) {
    if (form.size == CopyForm::Size::fixed) return form.bytes;
    if (form.size == CopyForm::Size::ignorable)
        return w.predicate(i->operands[2]) >> lane & 1 ? 0 : form.bytes;
    const auto read = w.get<std::uint32_t>(i->operands[2], lane);
    if (read > form.bytes)
        w.fail(i, lane, fmt::format("{} bytes cannot be read for a copy of {}", read, form.bytes));
    return read;
}

Place place_of_mbarrier(const Instruction* i, Warp& w, unsigned lane) {
    const AccessForm form(i->target);
    const std::uint64_t address =
        address_in(w, lane, i->operands[1], form.wide_address) + std::uint64_t(i->immediate);
    if (form.space == Space::generic && address - shared_window >= window_size)
        w.fail(i, lane, "an mbarrier lies in shared memory");
    const Space space = form.space == Space::generic ? Space::cluster : form.space;
    return place_of(i, w, lane, space, address, 8, 8);
}

MbarrierPlace mbarrier_of(const Instruction* i, Warp& w, unsigned lane) {
    return mbarrier_at(i, w, lane, place_of_mbarrier(i, w, lane));
}

/// Fails for an mbarrier of another block, where only arrivals may use it (PTX ISA 9.7.13.15).
Mbarrier& own_mbarrier(const Instruction* i, Warp& w, unsigned lane) {
    const MbarrierPlace place = mbarrier_of(i, w, lane);
    if (place.rank >= 0)
        w.fail(i, lane, "a thread can only arrive at an mbarrier of another block of the cluster");
    return place.barrier;
}

std::uint32_t value_of(const Instruction* i, const Warp& w, unsigned lane,
                       std::uint32_t otherwise) {
    return i->operands[2] ? w.get<std::uint32_t>(i->operands[2], lane) : otherwise;
}

void arrive(const Instruction* i, Warp& w, unsigned lane, const MbarrierPlace& place,
            std::uint32_t count) {
    Mbarrier& barrier = place.barrier;
    const std::uint32_t pending = barrier.pending;
    AsyncCopies& own = *w.block->async;
    const bool counted = place.rank < 0 ? own.arrive(barrier, w.index, lane, count)
                                        : own.arrive_elsewhere(std::uint32_t(place.rank), barrier,
                                                               w.index, lane, count);
    if (!counted)
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
        const Place place = place_of_mbarrier(i, w, lane);
        if (place.rank >= 0) w.fail(i, lane, "a block initialises its own mbarriers");
        w.block->async->init(std::uint32_t(place.address), count);
    });
    return w.cost_point(i, i + 1);
}

const Instruction* mbarrier_invalidate(const Instruction* i, Warp& w) {
    for_each_lane(w.mask, [&](unsigned lane) {
        w.block->async->mbarriers().invalidate(own_mbarrier(i, w, lane).address);
    });
    return w.cost_point(i, i + 1);
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
        const MbarrierPlace place = mbarrier_of(i, w, lane);
        Mbarrier& barrier = place.barrier;
        const std::uint64_t state = barrier.state();
        const std::uint32_t count = form.expects_bytes ? 1 : value_of(i, w, lane, 1);
        if (form.keeps_phase && count >= barrier.pending)
            w.fail(i, lane, "an arrival with .noComplete would end the phase");
        if (form.expects_bytes) barrier.expect(value_of(i, w, lane, 0));
        if (form.drops && count <= barrier.expected) barrier.expected -= count;
        arrive(i, w, lane, place, count);
        if (i->operands[0]) w.set(i->operands[0], lane, state);
    });
    w.block->async->tell_noted();
    return w.cost_point(i, i + 1);
}

template <bool completes>
const Instruction* mbarrier_bytes(const Instruction* i, Warp& w) {
    for_each_lane(w.mask, [&](unsigned lane) {
        const MbarrierPlace place = mbarrier_of(i, w, lane);
        const std::int64_t bytes = value_of(i, w, lane, 0);
        if (completes)
            place.copies.complete_bytes(place.barrier, bytes);
        else
            place.copies.expect_bytes(place.barrier, bytes);
    });
    return w.cost_point(i, i + 1);
}

template <bool adds>
const Instruction* mbarrier_arrive_of_copies(const Instruction* i, Warp& w) {
    for_each_lane(w.mask, [&](unsigned lane) {
        Mbarrier& barrier = own_mbarrier(i, w, lane);
        if (adds) barrier.add_arrival();
        w.block->async->arrive_when_landed(barrier, w.index, lane);
    });
    return w.cost_point(i, i + 1);
}

/// test_wait and try_wait. A GPU suspends a thread that waits; here its warp's turn ends, and the
/// instruction has the result false.
template <bool by_parity>
const Instruction* mbarrier_wait(const Instruction* i, Warp& w) {
    std::uint32_t ended = 0;
    FailedWait wait{.pc = w.block->kernel->index_of(i)};
    for_each_lane(w.mask, [&](unsigned lane) {
        const Mbarrier& barrier = own_mbarrier(i, w, lane);
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
    w.block->async->tell_noted();
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
            place_of(i, w, lane, form.to, to_of(i, w, lane, form), form.bytes, form.bytes).address;
        if (copy.read[lane])
            copy.from[lane] = place_of(i, w, lane, form.from, from_of(i, w, lane, form),
                                       copy.read[lane], form.bytes)
                                  .address;
    });
    w.block->async->start(copy, w);
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
    w.block->async->fence(w.index, w.mask, Space(i->detail));
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
        case Operation::mbarrier_drop_part:
            return mbarrier_arrive<ArrivalForm{.drops = true, .keeps_phase = true}>;
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
