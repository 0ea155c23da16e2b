#include "emulator/races/race_rule.h"

#include <cstring>
#include <utility>

#include "emulator/lower/uniformity.h"
#include "emulator/ptx/opcodes.h"
#include "emulator/warp/warp.h"

namespace warpscope::emulator {

void RaceRule::run() {
    const Access& a = access_;
    if (a.kind == MemoryAccess::load) {
        if (a.same_address) return load(a.address(first_lane(a.mask)), a.mask);
        if (is_simple()) {
            if (a.consecutive && load_consecutive()) return;
            return load_simple();
        }
        for (std::uint32_t m = a.mask; m; m &= m - 1)
            load(a.lane_addresses[first_lane(m)], m & (0 - m));
    } else if (a.kind == MemoryAccess::store && !orders_.is_strong(a.pc)) {
        store();
    } else if (a.kind != MemoryAccess::none) {
        cells_.begin_atomics();
        for_lanes(a.mask, [&](const Target& t, unsigned lane) { strong_write(t, lane); });
    }
}

// Calls f for each of `cells` cells of one access.
template <typename F>
void RaceRule::for_cells(std::uint32_t index, std::uint32_t cells, F&& f) {
    reported_ = {};
    reported_unwritten_ = false;
    for (; cells > 0; ++index, --cells)
        f(Target{cells_[index], cells_.atomics(index), cells_.byte_of(index), cells});
}

// Calls f for each cell of each lane.
template <typename F>
void RaceRule::for_lanes(std::uint32_t lanes, F&& f) {
    for (std::uint32_t m = lanes; m; m &= m - 1) {
        const unsigned lane = first_lane(m);
        const std::uint64_t address = access_.address(lane);
        if (!is_valid(address)) continue;
        for_cells(cells_.index_of(address), cells_.count(access_.bytes),
                  [&](const Target& t) { f(t, lane); });
    }
}

// Does what load() does if the cells were written in an earlier epoch and not read in this one;
// returns false for others. The loops have no branches, so that they take little time.
bool RaceRule::load_consecutive() {
    const CellTimes times = times_;
    RaceCell* const cells = &cells_[cells_.index_of(access_.lane_addresses[0])];
    bool other = false;
    for (unsigned lane = 0; lane < lanes_per_warp; ++lane)
        other |=
            !times.is_written_earlier(cells[lane]) | times.in_epoch(cells[lane].readers[0].event);
    if (other || have_new_atomics()) return false;
    for (unsigned lane = 0; lane < lanes_per_warp; ++lane)
        cells[lane].readers[0] = {now_.event, 1u << lane};
    return true;
}

// Records stores to cells that nobody has accessed in this epoch, or that each lane has read at one
// instruction; returns false for others.
bool RaceRule::store_consecutive() {
    const CellTimes times = times_;
    RaceCell* const cells = &cells_[cells_.index_of(access_.lane_addresses[0])];
    const std::uint32_t read = cells[0].readers[0].event;
    bool other = false;
    if (!times.in_epoch(read)) {
        for (unsigned lane = 0; lane < lanes_per_warp; ++lane)
            other |= times.in_epoch(cells[lane].writer.event) |
                     times.in_epoch(cells[lane].readers[0].event);
    } else {
        other = cells_.events()[read].warp != access_.warp;
        for (unsigned lane = 0; lane < lanes_per_warp; ++lane) {
            const auto& [first, second] = cells[lane].readers;
            other |= times.in_epoch(cells[lane].writer.event) | times.in_epoch(second.event) |
                     (first != CellAccess{read, 1u << lane});
        }
    }
    if (other || have_new_atomics()) return false;
    for (unsigned lane = 0; lane < lanes_per_warp; ++lane) {
        cells[lane].writer = {now_.event, 1u << lane};
        cells[lane].readers[0] = {};
    }
    return true;
}

// Does what load() does for all lanes. The local copies hold values that do not change here, which
// the compiler can't know.
void RaceRule::load_simple() {
    const CellTimes times = times_;
    const std::uint64_t* const addresses = access_.lane_addresses;
    RaceCell* const cells = &cells_[0];
    const CellAccesses* const atomics = cells_.atomics(0);
    const unsigned shift = cells_.shift();
    const std::uint32_t now = now_.event;
    for (unsigned lane = 0; lane < lanes_per_warp; ++lane) {
        const std::uint64_t index = addresses[lane] >> shift;
        RaceCell& cell = cells[index];
        CellAccess& reader = cell.readers[0];
        if (!times.is_written_earlier(cell) || (atomics && times.in_epoch(atomics[index][0].event)))
            load(addresses[lane], 1u << lane);
        else if (times.has_enough_readers(cell))
            continue;
        else if (reader.event == now)
            reader.lanes |= 1u << lane;
        else if (!times.in_epoch(reader.event))
            reader = {now, 1u << lane};
        else
            record_reader(cell, 1u << lane);
    }
}

// Checks and records a load. The most frequent case is fast: the cell was written in an earlier
// epoch, and only this warp has read it in this epoch.
void RaceRule::load(std::uint64_t address, std::uint32_t lanes) {
    if (!is_valid(address)) return;
    const CellTimes times = times_;
    const std::uint32_t now = now_.event, count = cells_.count(access_.bytes);
    const std::uint32_t index = cells_.index_of(address);
    const CellAccesses* const atomics = cells_.atomics(index);
    RaceCell* const cells = &cells_[index];
    for (std::uint32_t k = 0; k < count; ++k) {
        CellAccess& reader = cells[k].readers[0];
        if (!is_readable(cells[k], lanes) || (atomics && times.in_epoch(atomics[k][0].event)))
            return for_cells(index + k, count - k, [&](const Target& t) { check_load(t, lanes); });
        if (times.has_enough_readers(cells[k])) continue;
        if (reader.event == now)
            reader.lanes |= lanes;
        else if (!times.in_epoch(reader.event))
            reader = {now, lanes};
        else
            record_reader(cells[k], lanes);
    }
}

// Out of line: load() has loops of few instructions.
[[gnu::noinline]] void RaceRule::check_load(const Target& t, std::uint32_t lanes) {
    if (has_new_atomics(cells_.index_of(t.byte)) || !comes_after_store(t.cell, lanes)) {
        check(t, t.cell.writer, Hazard::read_after_write, lanes);
        if (t.atomics) check_each(t, *t.atomics, Hazard::read_after_write, lanes);
        check_written(t, lanes);
    }
    record_reader(t.cell, lanes);
}

void RaceRule::check_copy(bool has_ended) {
    store_number_ = cells_.next_store();
    for_lanes(access_.mask, [&](const Target& t, unsigned lane) {
        const bool is_free = is_alone(t.cell, lane) && !has_new_atomics(cells_.index_of(t.byte));
        if (!has_ended) return is_free ? void() : check_store(t, lane);
        t.cell.store = 0;  // two lanes that copy to one word were reported when they started
        record_store(t, lane);
    });
}

void RaceRule::store() {
    store_number_ = cells_.next_store();
    std::uint32_t accessed = 0;
    if (is_simple()) {
        if (access_.consecutive && store_consecutive()) return;
        accessed = store_simple();
    } else {
        for (std::uint32_t m = access_.mask; m; m &= m - 1)
            if (!store_alone(first_lane(m))) accessed |= m & (0 - m);
    }
    if (!accessed) return;
    // All lanes are compared with earlier instructions before any lane is recorded.
    for_lanes(accessed, [&](const Target& t, unsigned lane) { check_store(t, lane); });
    for_lanes(accessed, [&](const Target& t, unsigned lane) { record_store(t, lane); });
}

// Records the stores that are not hazards. Returns the other lanes.
std::uint32_t RaceRule::store_simple() {
    const CellTimes times = times_;
    const std::uint64_t* const addresses = access_.lane_addresses;
    RaceCell* const cells = &cells_[0];
    const unsigned shift = cells_.shift();
    const std::uint32_t now = now_.event, number = store_number_;
    const CellAccesses* const atomics = cells_.atomics(0);
    std::uint32_t accessed = 0;
    for (unsigned lane = 0; lane < lanes_per_warp; ++lane) {
        const std::uint64_t index = addresses[lane] >> shift;
        RaceCell& cell = cells[index];
        const bool is_known =
            times.in_epoch(cell.writer.event) || times.in_epoch(cell.readers[0].event);
        if ((atomics && times.in_epoch(atomics[index][0].event)) ||
            (is_known && !is_alone(cell, lane))) {
            accessed |= 1u << lane;
            continue;
        }
        cell.writer = {now, 1u << lane};
        cell.readers = {};
        cell.store = number;
    }
    return accessed;
}

// Records a store to cells with which it cannot be a hazard; returns false for other cells.
inline bool RaceRule::store_alone(unsigned lane) {
    const std::uint64_t address = access_.address(lane);
    if (!is_valid(address)) return true;
    const std::uint32_t index = cells_.index_of(address), number = cells_.count(access_.bytes);
    RaceCell* const first = &cells_[index];
    RaceCell* const end = first + number;
    for (std::uint32_t k = 0; k < number; ++k)
        if (!is_alone(first[k], lane) || has_new_atomics(index + k)) return false;
    for (RaceCell* cell = first; cell != end; ++cell) {
        cell->writer = {now_.event, 1u << lane};
        cell->readers = {};
        cell->store = store_number_;
    }
    return true;
}

void RaceRule::check_store(const Target& t, unsigned lane) {
    if (t.cell.store == store_number_ && t.cell.writer.event == now_.event) return;
    check(t, t.cell.writer, Hazard::write_after_write, 1u << lane);
    if (t.atomics) check_each(t, *t.atomics, Hazard::write_after_write, 1u << lane);
    check_each(t, t.cell.readers, Hazard::write_after_read, 1u << lane);
}

void RaceRule::record_store(const Target& t, unsigned lane) {
    CellAccess& writer = t.cell.writer;
    if (t.cell.store == store_number_ && writer.event == now_.event) {
        // Another lane of this instruction has stored to the cell.
        report_.note_values();
        const unsigned other = first_lane(writer.lanes);
        std::byte theirs[16], mine[16];
        access_.stored(other, theirs), access_.stored(lane, mine);
        const std::byte* const his = theirs + (t.byte - access_.address(other));
        const std::byte* const own = mine + (t.byte - access_.address(lane));
        report({.hazard = Hazard::write_after_write,
                .earlier_lane = other,
                .lane = lane,
                .byte = t.byte,
                .same_value = std::memcmp(own, his, overlap(t, writer)) == 0,
                .one_instruction = true},
               writer, 1);
        writer.lanes |= 1u << lane;
        return;
    }
    // Hazards with earlier accesses have been reported. Later accesses are compared with this
    // store.
    writer = {now_.event, 1u << lane};
    t.cell.store = store_number_;
    t.cell.readers = {};
    t.cell.two_readers_epoch = 0;
    if (t.atomics) *t.atomics = {};
}

// Checks and records an atomic, or a store that is not weak.
void RaceRule::strong_write(const Target& t, unsigned lane) {
    const bool reads = access_.kind == MemoryAccess::atomic;
    check(t, t.cell.writer, reads ? Hazard::read_after_write : Hazard::write_after_write,
          1u << lane);
    check_each(t, t.cell.readers, Hazard::write_after_read, 1u << lane);
    if (orders_.is_volatile_store(access_.pc) && !is_polled(access_.address(lane)))
        check_each(t, *t.atomics, Hazard::write_after_write, 1u << lane);
    if (reads) check_written(t, 1u << lane);
    record(*t.atomics, 1u << lane);
}

// Reports a read of a cell that no thread of the block has written. An mbarrier that nobody has
// initialised ends the launch, with an error that says so.
void RaceRule::check_written(const Target& t, std::uint32_t lanes) {
    if (reported_unwritten_ || cells_.has_been_written(cells_.index_of(t.byte)) ||
        !reads_memory(report_.kernel(), access_.pc))
        return;
    const auto any_written = [&](auto byte, auto bytes) { return cells_.any_written(byte, bytes); };
    const std::uint32_t begin = t.byte / access_.bytes * access_.bytes;
    if (!report_.loaded().reads_unwritten(access_.pc, begin, access_.bytes, any_written)) return;
    if (uses_mbarrier(report_.kernel().code[access_.pc].operation)) return;
    reported_unwritten_ = true;
    report_.add_unwritten(t.byte, access_, lanes);
}

// Checks the access of another warp first, because a hazard between warps is an error and one
// within a warp only a warning.
void RaceRule::check_each(const Target& t, const CellAccesses& earlier, Hazard hazard,
                          std::uint32_t lanes) {
    if (!times_.in_epoch(earlier[0].event)) return;
    const bool swap = cells_.events()[earlier[0].event].warp == access_.warp;
    check(t, earlier[swap], hazard, lanes) || check(t, earlier[!swap], hazard, lanes);
}

bool RaceRule::check_in_epoch(const Target& t, const CellAccess& earlier, Hazard hazard,
                              std::uint32_t lanes) {
    const AccessEvent& event = cells_.events()[earlier.event];
    if (orders_.may_meet(event.pc, access_.pc)) return false;
    if (event.warp == access_.warp || order_.by_words())
        return check_lanes(t, earlier, hazard, lanes);
    if (order_.warps_ordered(event.warp, event.moment, access_.warp)) return false;
    const unsigned lane = first_lane(lanes);
    report({.hazard = hazard,
            .earlier_lane = first_lane(earlier.lanes),
            .lane = lane,
            .byte = t.byte,
            .same_value = hazard == Hazard::write_after_write && keeps_value(t, earlier, lane)},
           earlier, lane_count(lanes));
    return true;
}

bool RaceRule::check_lanes(const Target& t, const CellAccess& earlier, Hazard hazard,
                           std::uint32_t lanes) {
    const AccessEvent& event = cells_.events()[earlier.event];
    std::uint32_t conflicting = 0, with = 0;
    for (std::uint32_t m = lanes; m; m &= m - 1) {
        std::uint32_t others = unordered(earlier, first_lane(m));
        if (others && is_observed(t, earlier, first_lane(m))) others = 0;
        if (others && !conflicting) with = others;
        if (others) conflicting |= m & (0 - m);
    }
    if (!conflicting) return false;
    const unsigned lane = first_lane(conflicting);
    // Not for an earlier atomic: its result depends on whether this store comes before it.
    const bool may_keep = access_.kind == MemoryAccess::store &&
                          (&earlier == &t.cell.writer || orders_.is_volatile_store(event.pc));
    report({.hazard = hazard,
            .earlier_lane = first_lane(with),
            .lane = lane,
            .byte = t.byte,
            .same_value = may_keep && keeps_value(t, earlier, lane)},
           earlier, lane_count(conflicting));
    return true;
}

bool RaceRule::is_observed(const Target& t, const CellAccess& earlier, unsigned lane) const {
    if (!order_.by_words() || !order_.clocks().observes()) return false;
    const AccessEvent& event = cells_.events()[earlier.event];
    const InstructionInfo& info = access_.state->block->kernel->lines[event.pc];
    if (!orders_.is_strong(event.pc) || info.access == MemoryAccess::load) return false;
    const std::uint64_t byte = window_ ? window_->address_of(t.byte) : t.byte;
    return order_.clocks().is_observed(byte - byte % info.bytes, event.moment.writes + 1,
                                       access_.warp * lanes_per_warp + lane);
}

void RaceRule::report(const Conflict& conflict, const CellAccess& earlier, std::uint64_t count) {
    const Reported reported{conflict.hazard, earlier.event, conflict.earlier_lane};
    const std::uint32_t word = conflict.byte / WordCounts::word_bytes;
    const bool is_known = reported == reported_;
    if (std::exchange(reported_word_, word) == word && is_known) return;
    Conflict complete = conflict;
    complete.earlier = cells_.events()[earlier.event];
    if (window_) complete.global_address = window_->address_of(conflict.byte);
    report_.mark(complete, cells_.cell_bytes(), count);
    if (!is_known) report_.add(complete, access_, count);
    reported_ = reported;
}

void RaceRule::record_reader(RaceCell& cell, std::uint32_t lanes) {
    if (times_.has_enough_readers(cell)) return;
    record(cell.readers, lanes);
    const AccessEvents& events = cells_.events();
    const auto& [first, second] = cell.readers;
    if (events.in_epoch(first.event) && events.in_epoch(second.event) &&
        events[first.event].warp != events[second.event].warp)
        cells_.set_two_readers(cell);
}

void RaceRule::record(CellAccesses& accesses, std::uint32_t lanes) {
    for (CellAccess& a : accesses)
        if (a.event == now_.event) {
            a.lanes |= lanes;
            return;
        }
    accesses[slot_to_replace(accesses)] = {now_.event, lanes};
}

// Returns the slot to replace: a slot of an older epoch, then the slot of this warp, then the older
// slot, unless a barrier orders the newer one before this access.
std::size_t RaceRule::slot_to_replace(const CellAccesses& accesses) {
    const AccessEvents& events = cells_.events();
    if (!events.in_epoch(accesses[0].event)) return 0;
    if (!events.in_epoch(accesses[1].event)) return 1;
    const AccessEvent &first = events[accesses[0].event], &second = events[accesses[1].event];
    const bool is_first_mine = first.warp == access_.warp;
    const bool is_second_mine = second.warp == access_.warp;
    if (is_first_mine != is_second_mine) return is_first_mine ? 0 : 1;
    const std::size_t older = accesses[0].event <= accesses[1].event ? 0 : 1;
    return !is_first_mine && comes_before(accesses[1 - older]) ? 1 - older : older;
}

std::uint32_t RaceRule::overlap(const Target& t, const CellAccess& earlier) const {
    const auto wrote = [&](std::uint32_t k) {
        if ((&t.cell)[k].writer == earlier) return true;
        return t.atomics && (t.atomics[k][0] == earlier || t.atomics[k][1] == earlier);
    };
    std::uint32_t cells = 1;
    while (cells < t.cells && wrote(cells)) ++cells;
    return cells * cells_.cell_bytes();
}

// Memory still holds what `earlier` wrote: no other value was written since.
bool RaceRule::keeps_value(const Target& t, const CellAccess& earlier, unsigned lane) const {
    if (access_.asynchronous) return false;
    std::byte mine[16];
    access_.stored(lane, mine);
    const std::byte* const memory =
        window_ ? reinterpret_cast<const std::byte*>(window_->address_of(t.byte))
                : access_.shared_memory() + t.byte;
    return std::memcmp(mine + (t.byte - access_.address(lane)), memory, overlap(t, earlier)) == 0;
}

}  // namespace warpscope::emulator
