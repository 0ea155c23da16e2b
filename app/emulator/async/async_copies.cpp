#include "emulator/async/async_copies.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "emulator/program/lanes.h"

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

namespace {

void copy_or_join(const AsyncCopy& copy, std::byte* to, const std::byte* from,
                  std::uint32_t bytes) {
    copy.join ? copy.join(to, from, bytes) : void(std::memmove(to, from, bytes));
}

}  // namespace

std::uint32_t AsyncCopy::parts_below(std::uint32_t of, std::uint32_t lanes,
                                     const std::uint32_t* below) const {
    std::uint32_t found = 0;
    for_each_lane(of, [&](unsigned part) {
        const unsigned lane = lane_of(part);
        const bool is_below = (lanes >> lane & 1) && group[part] < below[lane];
        found |= std::uint32_t(is_below) << part;
    });
    return found;
}

std::uint32_t AsyncCopy::contiguous(unsigned part, std::uint32_t done) const {
    constexpr std::uint32_t chunk = 16;
    if (swizzle == Swizzle::none) return bytes[part] - done;
    const std::uint64_t address = (to_shared ? to : from)[part] + done;
    return std::min(bytes[part] - done, chunk - std::uint32_t(address % chunk));
}

std::uint64_t AsyncCopy::bytes_of(std::uint32_t of) const {
    std::uint64_t all = 0;
    for_each_lane(of, [&](unsigned part) { all += bytes[part]; });
    return all;
}

void AsyncCopies::begin_block(std::byte* shared, std::size_t threads, Landing landing,
                              std::uint64_t seed, AsyncListener* listener) {
    shared_ = shared;
    landing_ = landing;
    listener_ = listener;
    random_ = seed | 1;
    next_number_ = 1;
    copies_.clear();
    arrivals_.clear();
    to_hold_ = {};
    hold_ = Hold::none;
    held_.clear();
    until_turn_ends_.clear();
    const std::size_t warps = (threads + 31) / 32;
    started_.assign(warps, 0);
    groups_.assign(warps * 32, {});
    waits_.assign(warps, {});
    mbarriers_.clear();
    cluster_ = {};
    waiting_together_ = nullptr;
    turn_waits_ = false;
    waiting_turns_ = 0;
    noted_ = {};
}

void AsyncCopies::start(AsyncCopy copy, const Warp& warp) {
    copy.number = next_number_++;
    for_each_lane(copy.parts, [&](unsigned part) {
        copy.group[part] = group_of(copy.warp, copy.lane_of(part), copy.completion);
    });
    copies_.push_back(copy);
    AsyncEvent event{.kind = AsyncEvent::copy_started, .warp = copy.warp};
    event.copy = &copies_.back();
    event.state = &warp;
    tell(event);
    if (landing_ == Landing::at_once && !is_held(copy)) land(copy.number);
}

/// Notes a copy that does not land at once.
bool AsyncCopies::is_held(const AsyncCopy& copy) {
    HeldCopy held{.block = block_,
                  .warp = copy.warp,
                  .number = ++started_[copy.warp],
                  .pc = copy.pc,
                  .late = hold_ == Hold::late};
    const auto listed =
        std::ranges::find_if(to_hold_, [&](const HeldCopy& one) { return one.is(held); });
    if (hold_ == Hold::none && listed == to_hold_.end()) return false;
    if (hold_ == Hold::none) held.late = listed->late;
    held_.push_back(held);
    if (!held.late) until_turn_ends_.push_back(copy.number);
    return true;
}

void AsyncCopies::land_held_to_end_of_turn() {
    for (const std::uint32_t number : until_turn_ends_) land(number);
    until_turn_ends_.clear();
}

void AsyncCopies::commit(std::uint32_t warp, std::uint32_t lanes, Completion kind) {
    for_each_lane(lanes, [&](unsigned lane) { ++group_of(warp, lane, kind); });
}

void AsyncCopies::wait_groups(std::uint32_t warp, std::uint32_t lanes, Completion kind,
                              const PerLane& but, bool reads_only) {
    PerLane below{};
    for_each_lane(lanes, [&](unsigned lane) {
        const std::uint32_t closed = group_of(warp, lane, kind);
        below[lane] = closed - std::min(closed, but[lane]);
    });
    for (std::size_t k = 0; k < copies_.size(); ++k) {
        const AsyncCopy& copy = copies_[k];
        if (copy.warp != warp || copy.completion != kind) continue;
        if (const std::uint32_t ended = copy.parts_below(copy.parts, lanes, below.data()))
            land_at(k, ended);
    }
    remove_landed();
    AsyncEvent event{.kind = AsyncEvent::groups_ended, .warp = warp, .lanes = lanes};
    event.completion = kind;
    event.reads_only = reads_only;
    event.below = below.data();
    tell(event);
}

void AsyncCopies::wait_all(std::uint32_t warp, std::uint32_t lanes) {
    commit(warp, lanes, Completion::group);
    wait_groups(warp, lanes, Completion::group, {});
}

void AsyncCopies::init(std::uint32_t address, std::uint32_t count) {
    const std::uint64_t state = mbarriers_.init(address, count).state();
    std::memcpy(shared_ + address, &state, sizeof(state));
}

bool AsyncCopies::arrive(Mbarrier& barrier, std::uint32_t warp, unsigned lane,
                         std::uint32_t count) {
    if (!barrier.arrive(warp, lane, count)) return false;
    note(AsyncEvent::arrived, barrier, warp, lane);
    end_phase_if_complete(barrier);
    return true;
}

bool AsyncCopies::arrive_elsewhere(std::uint32_t rank, Mbarrier& barrier, std::uint32_t warp,
                                   unsigned lane, std::uint32_t count) {
    if (!barrier.count(count)) return false;
    tell({.kind = AsyncEvent::arrived_elsewhere,
          .warp = warp,
          .lanes = 1u << lane,
          .barrier = &barrier,
          .rank = rank});
    cluster_[rank]->end_phase_if_complete(barrier);
    return true;
}

bool AsyncCopies::has_copies(const Arrival& arrival) const {
    return std::any_of(copies_.begin(), copies_.end(), [&](const AsyncCopy& copy) {
        return copy.warp == arrival.warp && copy.completion == Completion::group &&
               copy.number < arrival.below && (copy.parts >> arrival.lane & 1);
    });
}

void AsyncCopies::arrive_when_landed(Mbarrier& barrier, std::uint32_t warp, unsigned lane) {
    arrivals_.push_back({barrier.address, warp, lane, next_number_});
    resolve_arrivals(arrivals_.size() - 1);
}

// An arrival may end a phase, but lands no copy.
void AsyncCopies::resolve_arrivals(std::size_t first) {
    for (std::size_t k = first; k < arrivals_.size();) {
        const Arrival arrival = arrivals_[k];
        if (has_copies(arrival)) {
            ++k;
            continue;
        }
        arrivals_.erase(arrivals_.begin() + std::ptrdiff_t(k));
        Mbarrier* const barrier = mbarriers_.find(arrival.barrier);
        if (!barrier) continue;  // it was invalidated
        AsyncEvent event{.kind = AsyncEvent::copies_arrived, .warp = arrival.warp};
        event.lanes = 1u << arrival.lane;
        event.barrier = barrier;
        PerLane below{};
        below[arrival.lane] = arrival.below;
        event.below = below.data();
        tell(event);
        barrier->arrive(arrival.warp, arrival.lane, 1);
        end_phase_if_complete(*barrier);
    }
}

void AsyncCopies::expect_bytes(Mbarrier& barrier, std::int64_t bytes) {
    barrier.expect(bytes);
    end_phase_if_complete(barrier);
}

void AsyncCopies::complete_bytes(Mbarrier& barrier, std::int64_t bytes) {
    barrier.bytes -= bytes;
    end_phase_if_complete(barrier);
}

void AsyncCopies::end_phase_if_complete(Mbarrier& barrier) {
    const bool ended = barrier.end_phase();
    const std::uint64_t state = barrier.state();
    std::memcpy(shared_ + barrier.address, &state, sizeof(state));
    if (!ended) return;
    waiting_turns_ = 0;
    if (waiting_together_) *waiting_together_ = 0;
    tell_noted();
    tell({.kind = AsyncEvent::phase_ended, .barrier = &barrier});
}

void AsyncCopies::note(AsyncEvent::Kind kind, const Mbarrier& barrier, std::uint32_t warp,
                       unsigned lane) {
    if (noted_.barrier != &barrier) tell_noted();
    noted_ = {.kind = kind, .warp = warp, .lanes = noted_.lanes | 1u << lane, .barrier = &barrier};
}

void AsyncCopies::wait_failed(std::uint32_t warp, const FailedWait& wait) {
    turn_waits_ = true;
    waits_[warp] = wait;
    tell({.kind = AsyncEvent::looked,
          .warp = warp,
          .lanes = 1u << wait.lane,
          .pc = wait.pc,
          .barrier = wait.for_cluster ? nullptr : mbarriers_.find(wait.barrier)});
}

void AsyncCopies::tell_cluster(AsyncEvent::Kind kind, std::uint32_t warp, std::uint32_t lanes,
                               std::uint32_t phase, bool releases) {
    waits_[warp] = {};
    tell({.kind = kind, .warp = warp, .lanes = lanes, .phase = phase, .releases = releases});
}

void AsyncCopies::copy_bytes(const AsyncCopy& copy, std::uint32_t parts) {
    std::byte* const to_shared = copy.to_rank < 0 ? shared_ : cluster_[copy.to_rank]->shared_;
    const auto place = [&](std::byte* shared, std::uint64_t address, bool in_shared) {
        return in_shared ? shared + swizzled(copy.swizzle, address)
                         : reinterpret_cast<std::byte*>(address);
    };
    for_each_lane(parts, [&](unsigned part) {
        std::uint64_t to = copy.to[part], from = copy.from[part];
        const std::uint32_t read = copy.read[part], bytes = copy.bytes[part];
        if (copy.has_values) {
            const auto* const values = reinterpret_cast<const std::byte*>(copy.values.data());
            return copy_or_join(copy, to_shared + to, values, bytes);
        }
        for (std::uint32_t done = 0, some = 0; done < bytes; done += some) {
            some = copy.contiguous(part, done);
            std::byte* const into = place(to_shared, to + done, copy.to_shared);
            const std::uint32_t copied = std::min(some, read - std::min(read, done));
            if (copied)
                copy_or_join(copy, into, place(shared_, from + done, copy.from_shared), copied);
            std::memset(into + copied, 0, some - copied);
        }
    });
}

void AsyncCopies::land_at(std::size_t index, std::uint32_t parts) {
    AsyncCopy& copy = copies_[index];
    const bool counts = copy.completion == Completion::mbarrier;
    AsyncCopies& counting = copy.mbarrier_rank < 0 ? *this : *cluster_[copy.mbarrier_rank];
    Mbarrier* const barrier = counts ? counting.mbarriers_.find(copy.mbarrier) : nullptr;
    tell({.kind = AsyncEvent::copy_lands, .parts = parts, .copy = &copy, .barrier = barrier});
    copy_bytes(copy, parts);
    copy.parts &= ~parts;
    if (barrier) counting.complete_bytes(*barrier, std::int64_t(copy.bytes_of(parts)));
}

void AsyncCopies::remove_landed() {
    std::erase_if(copies_, [](const AsyncCopy& copy) { return !copy.parts; });
    resolve_arrivals(0);
}

void AsyncCopies::land(std::uint32_t number, std::uint32_t parts) {
    const auto found = std::find_if(copies_.begin(), copies_.end(),
                                    [&](const AsyncCopy& c) { return c.number == number; });
    if (found == copies_.end()) return;
    land_at(std::size_t(found - copies_.begin()), found->parts & parts);
    remove_landed();
}

void AsyncCopies::land_all() {
    for (std::size_t k = 0; k < copies_.size(); ++k) land_at(k, copies_[k].parts);
    remove_landed();
}

// A copy lands in pieces, in any order.
void AsyncCopies::land_some() {
    const std::size_t index = next_random() % copies_.size();
    const std::uint32_t all = copies_[index].parts;
    const std::uint32_t some = all & std::uint32_t(next_random() >> 16);
    land_at(index, landing_ == Landing::random && some ? some : all);
    remove_landed();
}

std::uint64_t AsyncCopies::next_random() {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return random_;
}

bool AsyncCopies::end_turn() {
    // Enough turns for each lane of a block to look at its phase 16 times, whatever the order of
    // the turns; and for another block to set a flag that a lane looks at between two looks at its
    // phase.
    const std::size_t hopeless = std::max<std::size_t>(4096, 16 * lanes_per_warp * waits_.size());
    waiting_turns_ = turn_waits_ ? waiting_turns_ + 1 : 0;
    if (waiting_together_) *waiting_together_ = turn_waits_ ? *waiting_together_ + 1 : 0;
    turn_waits_ = false;
    land_held_to_end_of_turn();
    if (copies_.empty())
        return waiting_together_
                   ? *waiting_together_ < hopeless * std::max<std::size_t>(1, cluster_.size())
                   : waiting_turns_ < hopeless;
    const bool random = landing_ == Landing::random && next_random() % 2 == 0;
    if (random || waiting_turns_ > 2 * groups_.size()) land_some();
    return true;
}

}  // namespace warpscope::emulator
