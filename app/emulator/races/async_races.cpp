#include "emulator/races/async_races.h"

#include <algorithm>

#include "emulator/observe/copy_accesses.h"
#include "emulator/warp/members.h"

namespace warpscope::emulator {

namespace {

bool overlap(std::uint64_t a, std::uint64_t a_end, std::uint64_t b, std::uint64_t b_end) {
    return a < b_end && b < a_end;
}

/// Whether none of these cells has another mark than this one.
bool are_only(std::uint32_t mark, const std::vector<std::uint32_t>& marks, std::size_t first,
              std::size_t last) {
    bool only = true;
    for (std::size_t k = first; k <= last && k < marks.size(); ++k)
        only &= !marks[k] || marks[k] == mark;
    return only;
}

}  // namespace

void AsyncRaces::begin_block() {
    flights_.clear();
    many_flights_ = 0;
    find_bounds();
    marks_.clear();
}

bool AsyncRaces::has_ended(const Flight& flight, unsigned part, std::uint32_t warp,
                           std::uint32_t lanes, const BlockOrder& order) {
    if (!(flight.open >> part & 1)) return true;
    return (flight.counted >> part & 1) &&
           order.clocks().phases_before(flight.mbarrier[part], warp, lanes) > flight.phase[part];
}

bool AsyncRaces::has_ended_for_all(const Flight& flight, const Warp& warp,
                                   const BlockOrder& order) {
    const std::uint64_t warps = (warp.block->launch->block.count() - 1) / lanes_per_warp + 1;
    for (std::uint32_t k = 0; k < warps; ++k) {
        const std::uint32_t lanes = warp.sibling(k).live();
        for (std::uint32_t parts = lanes ? flight.open : 0; parts; parts &= parts - 1)
            if (!has_ended(flight, first_lane(parts), k, lanes, order)) return false;
    }
    return true;
}

void AsyncRaces::add_bounds(const Flight& flight) {
    if (flight.reads)
        (flight.copy.from_shared ? shared_sources_ : global_sources_).add(flight.from);
    (flight.copy.to_shared ? shared_destinations_ : global_destinations_).add(flight.to);
}

void AsyncRaces::find_bounds() {
    shared_sources_ = shared_destinations_ = global_sources_ = global_destinations_ = {};
    for (const auto& [number, flight] : flights_) add_bounds(flight);
}

void AsyncRaces::clear_marks(const AsyncCopy& copy, std::uint32_t parts, const RaceCells& shared) {
    if (!copy.to_shared) return;
    for_each_lane(parts, [&](unsigned part) {
        const std::uint32_t first = shared.index_of(copy.to[part]);
        for (std::uint32_t k = 0; k < shared.count(copy.bytes[part]); ++k)
            if (marks_[first + k] == copy.number * 32 + part) marks_[first + k] = 0;
    });
}

// It looks for them when there are twice as many flights as it has left before.
void AsyncRaces::forget_ended(const Warp& warp, const BlockOrder& order, const RaceCells& shared) {
    if (flights_.size() < many_flights_) return;
    std::erase_if(flights_, [&](const auto& entry) {
        const Flight& flight = entry.second;
        if (!has_ended_for_all(flight, warp, order)) return false;
        clear_marks(flight.copy, flight.open, shared);
        return true;
    });
    many_flights_ = 2 * flights_.size() + 8;
    find_bounds();
}

void AsyncRaces::start(const AsyncEvent& event, const BlockOrder& order, RaceCells& shared,
                       RaceReport& report) {
    // The oldest copies of a block with many of them are forgotten.
    constexpr std::size_t most_flights = 1 << 10;
    forget_ended(*event.state, order, shared);
    if (flights_.size() == most_flights) flights_.erase(flights_.begin());
    Flight flight{.copy = *event.copy,
                  .state = event.state,
                  .open = event.copy->parts,
                  .reads = event.copy->parts};
    const AsyncCopy& copy = flight.copy;
    for_each_lane(copy.parts, [&](unsigned part) {
        if (copy.read[part]) flight.from.add({copy.from[part], copy.from[part] + copy.read[part]});
        flight.to.add({copy.to[part], copy.to[part] + copy.bytes[part]});
    });
    if (copy.to_shared) {
        for_accesses(copy, copy.parts, true, event.state, [&](const Access& access) {
            check(access, Space::shared, order, shared, report);
        });
        marks_.resize(std::max<std::size_t>(marks_.size(), shared.index_of(flight.to.end) + 1));
        for_each_lane(copy.parts, [&](unsigned part) {
            const std::uint32_t first = shared.index_of(copy.to[part]);
            for (std::uint32_t k = 0; k < shared.count(copy.bytes[part]); ++k) {
                marks_[first + k] = copy.number * 32 + part;
                shared.begin_copy(first + k);
            }
        });
    }
    add_bounds(flight);
    flights_.emplace(copy.number, std::move(flight));
}

void AsyncRaces::count(const AsyncEvent& event, ThreadClocks& clocks) {
    const auto note = [&](Flight& flight, std::uint32_t parts) {
        flight.counted |= parts;
        for_each_lane(parts, [&](unsigned part) {
            flight.mbarrier[part] = clocks.number_of(event.barrier->address);
            flight.phase[part] = event.barrier->phase;
        });
    };
    if (event.kind == AsyncEvent::copy_lands) {
        const auto flight = flights_.find(event.copy->number);
        if (event.barrier && flight != flights_.end()) note(flight->second, event.parts);
        return;
    }
    const unsigned lane = first_lane(event.lanes);
    for (auto entry = flights_.rbegin(); entry != flights_.rend(); ++entry) {
        Flight& flight = entry->second;
        const AsyncCopy& copy = flight.copy;
        if (copy.warp != event.warp || copy.completion != Completion::group) continue;
        if (copy.number >= event.below[lane] || !(copy.parts >> lane & 1)) continue;
        if (flight.counted >> lane & 1) break;  // so are the copies before it
        note(flight, event.lanes);
    }
}

void AsyncRaces::end_groups(const AsyncEvent& event, const RaceCells& shared,
                            const std::function<void(const Access&)>& f) {
    for (auto& [number, flight] : flights_) {
        const AsyncCopy& copy = flight.copy;
        if (copy.warp != event.warp || copy.completion != event.completion) continue;
        const std::uint32_t ended = copy.parts_below(flight.open, event.lanes, event.below);
        flight.reads &= ~ended;
        if (!ended || event.reads_only) continue;
        flight.open &= ~ended;
        clear_marks(copy, ended, shared);
        if (copy.to_shared) for_accesses(copy, ended, true, flight.state, f);
    }
    std::erase_if(flights_, [](const auto& entry) { return !entry.second.open; });
    find_bounds();
}

void AsyncRaces::end_block(RaceReport& report) const {
    for (const auto& [number, flight] : flights_)
        if (flight.copy.from_shared && flight.reads & ~flight.counted)
            report.add_unfinished(flight.copy);
}

void AsyncRaces::compare(const Access& access, Space space, const BlockOrder& order,
                         const RaceCells& shared, RaceReport& report) {
    const bool in_shared = space == Space::shared;
    const bool may_hit_source = !in_shared || access.kind != MemoryAccess::load;
    std::uint32_t ended = 0;
    for_each_lane(access.mask, [&](unsigned lane) {
        const std::uint64_t address = access.address(lane), end = address + access.bytes;
        if (in_shared && shared_destinations_.overlap(address, end) &&
            shared.is_valid(address, access.bytes) &&
            !are_only(ended, marks_, shared.index_of(address), shared.index_of(end - 1)))
            check_marks(access, lane, ended, order, shared, report);
        if (may_hit_source) check_ranges(access, lane, space, order, report);
    });
}

void AsyncRaces::check_marks(const Access& access, unsigned lane, std::uint32_t& ended,
                             const BlockOrder& order, const RaceCells& shared, RaceReport& report) {
    const std::uint32_t first = shared.index_of(access.address(lane));
    for (std::uint32_t k = 0; k < shared.count(access.bytes) && first + k < marks_.size(); ++k) {
        const std::uint32_t mark = marks_[first + k];
        if (!mark || mark == ended) continue;
        const auto entry = flights_.find(mark / 32);
        if (entry == flights_.end()) continue;
        const Flight& flight = entry->second;
        if (has_ended(flight, mark % 32, access.warp, access.mask, order)) {
            ended = mark;
            continue;
        }
        if (has_ended(flight, mark % 32, access.warp, 1u << lane, order)) continue;
        if (flight.copy.join && access.kind == MemoryAccess::atomic) continue;
        report_flight(flight, mark % 32,
                      access.kind == MemoryAccess::store ? Hazard::write_after_write
                                                         : Hazard::read_after_write,
                      access, lane, Space::shared, shared.byte_of(first + k), report);
        return;
    }
}

void AsyncRaces::check_ranges(const Access& access, unsigned lane, Space space,
                              const BlockOrder& order, RaceReport& report) {
    const std::uint64_t begin = access.address(lane), end = begin + access.bytes;
    const bool writes = access.kind != MemoryAccess::load;
    const bool in_shared = space == Space::shared;
    const bool may_hit_source =
        writes && (in_shared ? shared_sources_ : global_sources_).overlap(begin, end);
    const bool may_hit_destination = !in_shared && global_destinations_.overlap(begin, end);
    if (!may_hit_source && !may_hit_destination) return;
    for (const auto& [number, flight] : flights_) {
        const AsyncCopy& copy = flight.copy;
        const bool source = may_hit_source && copy.from_shared == in_shared && flight.reads &&
                            flight.from.overlap(begin, end);
        const bool destination = may_hit_destination && !copy.to_shared &&
                                 flight.to.overlap(begin, end) &&
                                 !(copy.join && access.kind == MemoryAccess::atomic);
        if (!source && !destination) continue;
        for (std::uint32_t parts = flight.open; parts; parts &= parts - 1) {
            const unsigned part = first_lane(parts);
            const bool hits_source =
                source && (flight.reads >> part & 1) &&
                overlap(begin, end, copy.from[part], copy.from[part] + copy.read[part]);
            const bool hits =
                hits_source || (destination && overlap(begin, end, copy.to[part],
                                                       copy.to[part] + copy.bytes[part]));
            if (!hits || has_ended(flight, part, access.warp, 1u << lane, order)) continue;
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
