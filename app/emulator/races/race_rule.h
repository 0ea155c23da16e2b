#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "emulator/happens_before/block_order.h"
#include "emulator/happens_before/memory_orders.h"
#include "emulator/races/access_events.h"
#include "emulator/races/global_window.h"
#include "emulator/races/race_cells.h"
#include "emulator/races/race_report.h"

namespace warpscope::emulator {

/// BlockOrder::unordered_lanes() for the cells of one access: neighbours have the same events, and
/// threads that share a clock have one answer.
class UnorderedLanes {
  public:
    /// The lanes of event `number` that nothing orders before what the thread does now.
    std::uint32_t of(const AccessEvent& event, std::uint32_t number, const BlockOrder& order,
                     std::uint32_t warp, unsigned lane) {
        const void* const clock =
            order.by_words() ? order.clocks().clock_of(warp * lanes_per_warp + lane) : nullptr;
        Known& known = known_[number % known_.size()];
        if (!clock || known.event != number || known.clock != clock)
            known = {number, order.unordered_lanes(event.warp, event.moment, warp, lane), clock};
        return known.lanes;
    }

  private:
    struct Known {
        std::uint32_t event = 0, lanes = 0;
        const void* clock = nullptr;
    };
    std::array<Known, 4> known_;
};

/// One access under the race detector. It is compared with the earlier accesses of its cells, what
/// nothing orders is reported, and the access is recorded in the cells.
class RaceRule {
  public:
    /// The access is to shared memory; with a `window`, to global memory at its place there.
    /// `event`: the event of the access, where it has begun earlier; 0: it begins now.
    RaceRule(const Access& access, const MemoryOrders& orders, const BlockOrder& order,
             RaceCells& cells, RaceReport& report, const GlobalWindow* window = nullptr,
             std::uint32_t event = 0)
        : access_(access),
          orders_(orders),
          order_(order),
          cells_(cells),
          report_(report),
          window_(window),
          times_(cells.times()),
          now_(event ? CellAccess{event, 0} : cells.begin_access(access, order)) {}

    void run();
    /// The two halves of run() for a store of an asynchronous copy: it is compared when it starts,
    /// and recorded when it has ended, since the thread has waited for it.
    void check_copy(bool has_ended);

  private:
    /// One cell of one lane's access, or of the access of all lanes at one address.
    struct Target {
        RaceCell& cell;
        CellAccesses* atomics;  ///< nullptr where RaceCells has none
        std::uint32_t byte;     ///< offset of the cell in shared memory or in the window
        std::uint32_t cells;    ///< cells of the access, from this one to its end
    };

    bool is_valid(std::uint64_t address) const {
        return access_.checked || cells_.is_valid(address, access_.bytes);
    }
    /// True for most accesses: of all lanes, to one cell each.
    bool is_simple() const {
        return access_.checked && access_.mask == all_lanes && !access_.same_address &&
               cells_.count(access_.bytes) == 1;
    }
    /// Returns true for a cell that an atomic or a strong store has accessed in this epoch.
    bool has_new_atomics(std::uint32_t index) const {
        return cells_.has_atomics() && times_.in_epoch((*cells_.atomics(index))[0].event);
    }
    /// The word at a cell's byte is a flag or a lock. Volatile stores to others only look strong.
    bool is_polled(std::uint64_t byte) const {
        return order_.clocks().has_been_read(window_ ? window_->address_of(byte) : byte);
    }
    /// One of the cells of a simple consecutive access is such a cell.
    bool have_new_atomics() const;
    bool load_consecutive();
    bool store_consecutive();
    void load_simple();
    std::uint32_t store_simple();
    void load(std::uint64_t address, std::uint32_t lanes);
    void check_load(const Target& target, std::uint32_t lanes);
    void store();
    /// `lanes` are one lane, and the earlier access was its own.
    bool is_own(const CellAccess& earlier, std::uint32_t lanes) const {
        return earlier.lanes == lanes && (lanes & (lanes - 1)) == 0 &&
               cells_.events()[earlier.event].warp == access_.warp;
    }
    /// A load by these lanes is no hazard: the cell was written in an earlier epoch, or by the lane
    /// itself.
    bool is_readable(const RaceCell& cell, std::uint32_t lanes) const {
        return times_.is_written_earlier(cell) ||
               (times_.in_epoch(cell.writer.event) && is_own(cell.writer, lanes));
    }
    /// No thread but that of `lane` has accessed the cell in this epoch, or what has comes before,
    /// as far as the cell's readers tell: as of an element of the thread's own.
    bool is_alone(const RaceCell& cell, unsigned lane);
    bool store_alone(unsigned lane);
    void check_store(const Target& target, unsigned lane);
    void record_store(const Target& target, unsigned lane);
    void strong_write(const Target& target, unsigned lane);

    template <typename F>
    void for_cells(std::uint32_t index, std::uint32_t cells, F&& f);
    template <typename F>
    void for_lanes(std::uint32_t lanes, F&& f);

    /// Compares with an earlier access; returns true if the two are a hazard.
    bool check(const Target& target, const CellAccess& earlier, Hazard hazard,
               std::uint32_t lanes) {
        return times_.in_epoch(earlier.event) && check_in_epoch(target, earlier, hazard, lanes);
    }
    bool check_in_epoch(const Target& target, const CellAccess& earlier, Hazard hazard,
                        std::uint32_t lanes);
    bool check_lanes(const Target& target, const CellAccess& earlier, Hazard hazard,
                     std::uint32_t lanes);
    /// Those of `earlier.lanes`, but for `lane` itself, that nothing orders before what it does
    /// now.
    std::uint32_t unordered(const CellAccess& earlier, unsigned lane) {
        const AccessEvent& event = cells_.events()[earlier.event];
        const std::uint32_t own = event.warp == access_.warp ? 1u << lane : 0;
        const std::uint32_t others = earlier.lanes & ~own;
        if (!others) return 0;
        return others & unordered_.of(event, earlier.event, order_, access_.warp, lane);
    }
    /// With clocks: the earlier access wrote a word strongly, and `lane` has observed the write, or
    /// knows of a thread that has.
    bool is_observed(const Target& target, const CellAccess& earlier, unsigned lane) const;
    /// With clocks: an earlier access comes before what `lane` does now.
    bool is_before(const CellAccess& earlier, unsigned lane) {
        return !times_.in_epoch(earlier.event) || !unordered(earlier, lane);
    }
    /// With clocks: so do all accesses of the cell but atomics. Out of line, for short loops.
    [[gnu::noinline]] bool all_before(const RaceCell& cell, unsigned lane) {
        return is_before(cell.writer, lane) && is_before(cell.readers[0], lane) &&
               is_before(cell.readers[1], lane);
    }
    /// With clocks: the cell was written in this epoch, before what the lane of `lanes` does, if it
    /// is one.
    bool comes_after_store(const RaceCell& cell, std::uint32_t lanes) {
        return order_.by_words() && lane_count(lanes) == 1 && times_.in_epoch(cell.writer.event) &&
               is_before(cell.writer, first_lane(lanes));
    }
    /// What comes before the access of its first lane.
    bool comes_before(const CellAccess& earlier) {
        const AccessEvent& event = cells_.events()[earlier.event];
        if (!order_.by_words()) return order_.warps_ordered(event.warp, event.moment, access_.warp);
        return !unordered(earlier, first_lane(access_.mask));
    }
    void check_each(const Target& target, const CellAccesses& earlier, Hazard hazard,
                    std::uint32_t lanes);
    void check_written(const Target& target, std::uint32_t lanes);

    void record_reader(RaceCell& cell, std::uint32_t lanes);
    void record(CellAccesses& accesses, std::uint32_t lanes);
    std::size_t slot_to_replace(const CellAccesses& accesses);
    void report(const Conflict& conflict, const CellAccess& earlier, std::uint64_t count);

    /// Returns the bytes of the access, from the target on, that `earlier` wrote.
    std::uint32_t overlap(const Target& target, const CellAccess& earlier) const;
    /// Returns true if `lane` stores the value that is in memory where `earlier` wrote.
    bool keeps_value(const Target& target, const CellAccess& earlier, unsigned lane) const;

    const Access& access_;
    const MemoryOrders& orders_;
    const BlockOrder& order_;
    RaceCells& cells_;
    RaceReport& report_;
    const GlobalWindow* window_;  ///< nullptr for shared memory
    const CellTimes times_;
    CellAccess now_;  ///< the event of this access
    std::uint32_t store_number_ = 0;

    UnorderedLanes unordered_;
    /// The hazard that was reported last for the current lane. If an access of several words
    /// conflicts with one thread in all of them, that is one hazard.
    struct Reported {
        Hazard hazard = Hazard::none;
        std::uint32_t event = 0;
        unsigned lane = 0;
        bool operator==(const Reported&) const = default;
    } reported_;
    std::uint32_t reported_word_ =
        0;  ///< the word of `reported_`, which counts once at each of its words
    bool reported_unwritten_ = false;
};

inline bool RaceRule::have_new_atomics() const {
    if (!cells_.has_atomics()) return false;
    const CellTimes times = times_;
    const CellAccesses* const atomics = cells_.atomics(cells_.index_of(access_.lane_addresses[0]));
    bool any = false;
    for (unsigned lane = 0; lane < lanes_per_warp; ++lane)
        any |= times.in_epoch(atomics[lane][0].event);
    return any;
}

inline bool RaceRule::is_alone(const RaceCell& cell, unsigned lane) {
    if (order_.by_words()) return all_before(cell, lane);
    if (times_.in_epoch(cell.writer.event) && !is_own(cell.writer, 1u << lane)) return false;
    const auto& [reader, second] = cell.readers;
    return !times_.in_epoch(reader.event) ||
           (!times_.in_epoch(second.event) && is_own(reader, 1u << lane));
}

}  // namespace warpscope::emulator
