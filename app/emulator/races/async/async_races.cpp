#include "emulator/races/async/async_races.h"

#include <algorithm>
#include <bit>

#include "emulator/observe/copy_accesses.h"
#include "emulator/warp/members.h"

namespace warpscope::emulator {

namespace {

bool overlap(std::uint64_t a, std::uint64_t a_end, std::uint64_t b, std::uint64_t b_end) {
    return a < b_end && b < a_end;
}

}  // namespace

void AsyncRaces::begin_block() {
    flights_.clear();
    shared_sources_ = global_sources_ = global_destinations_ = {};
    std::fill(marks_.begin(), marks_.end(), 0);
}

AsyncRaces::Flight* AsyncRaces::find(std::uint32_t number) {
    const std::uint32_t first = flights_.empty() ? 0 : flights_.front().copy.number;
    if (flights_.empty() || number < first || number - first >= flights_.size()) return nullptr;
    return &flights_[number - first];
}

bool AsyncRaces::has_ended(const Flight& flight, unsigned part, std::uint32_t thread,
                           const BlockOrder& order) {
    if (!(flight.open >> part & 1)) return true;
    return (flight.counted >> part & 1) &&
           order.clocks().phases_before(flight.mbarrier[part], thread) > flight.phase[part];
}

void AsyncRaces::start(const AsyncEvent& event, const BlockOrder& order, RaceCells& shared,
                       RaceReport& report) {
    // The oldest copies of a block with many of them are forgotten.
    constexpr std::size_t most_flights = 1 << 10;
    if (flights_.size() == most_flights) flights_.pop_front();
    Flight flight{.copy = *event.copy,
                  .state = event.state,
                  .open = event.copy->parts,
                  .reads = event.copy->parts};
    const AsyncCopy& copy = flight.copy;
    for_each_lane(copy.parts, [&](unsigned part) {
        if (copy.read[part]) flight.from.add(copy.from[part], copy.from[part] + copy.read[part]);
        flight.to.add(copy.to[part], copy.to[part] + copy.bytes[part]);
    });
    (copy.from_shared ? shared_sources_ : global_sources_).add(flight.from.begin, flight.from.end);
    if (!copy.to_shared) global_destinations_.add(flight.to.begin, flight.to.end);
    if (copy.to_shared) {
        for_accesses(copy, copy.parts, true, event.state, [&](const Access& access) {
            check(access, Space::shared, order, shared, report);
        });
        marks_.resize(std::max<std::size_t>(marks_.size(), shared.index_of(flight.to.end) + 1));
        for_each_lane(copy.parts, [&](unsigned part) {
            const std::uint32_t first = shared.index_of(copy.to[part]);
            for (std::uint32_t k = 0; k < shared.count(copy.bytes[part]); ++k) {
                marks_[first + k] = copy.number * 32 + part;
                shared.set_written(first + k);
            }
        });
    }
    flights_.push_back(std::move(flight));
}

void AsyncRaces::count(const AsyncEvent& event) {
    const auto note = [&](Flight& flight, std::uint32_t parts) {
        flight.counted |= parts;
        for_each_lane(parts, [&](unsigned part) {
            flight.mbarrier[part] = event.barrier->address;
            flight.phase[part] = event.barrier->phase;
        });
    };
    if (event.kind == AsyncEvent::copy_lands) {
        if (Flight* const flight = event.barrier ? find(event.copy->number) : nullptr)
            note(*flight, event.parts);
        return;
    }
    const auto lane = unsigned(std::countr_zero(event.lanes));
    for (auto flight = flights_.rbegin(); flight != flights_.rend(); ++flight) {
        const AsyncCopy& copy = flight->copy;
        if (copy.warp != event.warp || copy.completion != Completion::group) continue;
        if (copy.number >= event.below[lane] || !(copy.parts >> lane & 1)) continue;
        if (flight->counted >> lane & 1) break;  // so are the copies before it
        note(*flight, event.lanes);
    }
}

void AsyncRaces::end_groups(const AsyncEvent& event, const RaceCells& shared,
                            const std::function<void(const Access&)>& f) {
    for (Flight& flight : flights_) {
        const AsyncCopy& copy = flight.copy;
        if (copy.warp != event.warp || copy.completion != event.completion) continue;
        const std::uint32_t ended = copy.parts_below(flight.open, event.lanes, event.below);
        flight.reads &= ~ended;
        if (!ended || event.reads_only) continue;
        flight.open &= ~ended;
        if (!copy.to_shared) continue;
        for_each_lane(ended, [&](unsigned part) {
            const std::uint32_t first = shared.index_of(copy.to[part]);
            for (std::uint32_t k = 0; k < shared.count(copy.bytes[part]); ++k)
                if (marks_[first + k] == copy.number * 32 + part) marks_[first + k] = 0;
        });
        for_accesses(copy, ended, true, flight.state, f);
    }
    while (!flights_.empty() && !flights_.front().open) flights_.pop_front();
}

void AsyncRaces::end_block(RaceReport& report) const {
    for (const Flight& flight : flights_)
        if (flight.copy.from_shared && flight.reads & ~flight.counted)
            report.add_unfinished(flight.copy);
}

void AsyncRaces::compare(const Access& access, Space space, const BlockOrder& order,
                         const RaceCells& shared, RaceReport& report) {
    for_each_lane(access.mask, [&](unsigned lane) {
        if (space == Space::shared && shared.is_valid(access.address(lane), access.bytes))
            check_marks(access, lane, order, shared, report);
        if (space == Space::global || access.kind != MemoryAccess::load)
            check_ranges(access, lane, space, order, report);
    });
}

void AsyncRaces::check_marks(const Access& access, unsigned lane, const BlockOrder& order,
                             const RaceCells& shared, RaceReport& report) {
    const std::uint32_t first = shared.index_of(access.address(lane));
    for (std::uint32_t k = 0; k < shared.count(access.bytes) && first + k < marks_.size(); ++k) {
        const std::uint32_t mark = marks_[first + k];
        if (!mark) continue;
        Flight* const flight = find(mark / 32);
        if (!flight || has_ended(*flight, mark % 32, access.warp * lanes_per_warp + lane, order))
            continue;
        if (flight->copy.join && access.kind == MemoryAccess::atomic) continue;
        report_flight(*flight, mark % 32,
                      access.kind == MemoryAccess::store ? Hazard::write_after_write
                                                         : Hazard::read_after_write,
                      access, lane, Space::shared, shared.byte_of(first + k), report);
        return;
    }
}

void AsyncRaces::check_ranges(const Access& access, unsigned lane, Space space,
                              const BlockOrder& order, RaceReport& report) {
    const std::uint64_t begin = access.address(lane), end = begin + access.bytes;
    const std::uint32_t thread = access.warp * lanes_per_warp + lane;
    const bool writes = access.kind != MemoryAccess::load;
    const bool in_shared = space == Space::shared;
    const bool may_hit_source =
        writes && (in_shared ? shared_sources_ : global_sources_).overlap(begin, end);
    const bool may_hit_destination = !in_shared && global_destinations_.overlap(begin, end);
    if (!may_hit_source && !may_hit_destination) return;
    for (const Flight& flight : flights_) {
        const AsyncCopy& copy = flight.copy;
        const bool source = may_hit_source && copy.from_shared == in_shared && flight.reads &&
                            flight.from.overlap(begin, end);
        const bool destination = may_hit_destination && !copy.to_shared &&
                                 flight.to.overlap(begin, end) &&
                                 !(copy.join && access.kind == MemoryAccess::atomic);
        if (!source && !destination) continue;
        for (std::uint32_t parts = flight.open; parts; parts &= parts - 1) {
            const auto part = unsigned(std::countr_zero(parts));
            const bool hits_source =
                source && (flight.reads >> part & 1) &&
                overlap(begin, end, copy.from[part], copy.from[part] + copy.read[part]);
            const bool hits =
                hits_source || (destination && overlap(begin, end, copy.to[part],
                                                       copy.to[part] + copy.bytes[part]));
            if (!hits || has_ended(flight, part, thread, order)) continue;
            report_flight(flight, part,
                          hits_source ? Hazard::write_after_read
                          : writes    ? Hazard::write_after_write
                                      : Hazard::read_after_write,
                          access, lane, space, begin, report);
            return;
        }
    }
}

void AsyncRaces::report_flight(const Flight& flight, unsigned part, Hazard hazard,
                               const Access& later, unsigned lane, Space space,
                               std::uint64_t address, RaceReport& report) {
    Conflict conflict{.hazard = hazard};
    conflict.earlier.pc = flight.copy.pc;
    conflict.earlier.warp = flight.copy.warp;
    conflict.earlier_lane = flight.copy.lane_of(part);
    conflict.lane = lane;
    if (space == Space::global)
        conflict.global_address = address;
    else
        conflict.byte = std::uint32_t(address);
    conflict.in_flight = &flight.copy;
    report.mark(conflict, later.bytes, 1);
    report.add(conflict, later, 1);
}

}  // namespace warpscope::emulator
