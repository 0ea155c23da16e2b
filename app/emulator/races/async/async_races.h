#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "emulator/async/async_copies.h"
#include "emulator/happens_before/block_order.h"
#include "emulator/races/race_cells.h"
#include "emulator/races/race_report.h"

namespace warpscope::emulator {

/// The asynchronous copies of a block under the race detector. From its start on, a copy reads its
/// source and writes its destination at any time. That ends for a thread where it has waited for
/// the group of its own copy, or where it knows that the phase of an mbarrier has ended that counts
/// the copy (PTX ISA 9.7.9.25.1, "Completion Mechanisms"). So no finding depends on when the
/// emulator lands the copy.
class AsyncRaces {
  public:
    void begin_block();

    /// A copy starts. The accesses of its lanes have been compared with earlier ones.
    void start(const AsyncEvent& event, const BlockOrder& order, RaceCells& shared,
               RaceReport& report);
    /// Copies have landed or arrive at an mbarrier.
    void count(const AsyncEvent& event);
    /// Threads have waited for groups. Calls f(access) for the stores to shared memory that have
    /// ended: they are stores of these threads from now on.
    void end_groups(const AsyncEvent& event, const RaceCells& shared,
                    const std::function<void(const Access&)>& f);
    /// The block ends: no bulk copy may still read its shared memory.
    void end_block(RaceReport& report) const;
    /// Compares an access with the copies that have not ended for its threads.
    void check(const Access& access, Space space, const BlockOrder& order, const RaceCells& shared,
               RaceReport& report) {
        if (!flights_.empty()) compare(access, space, order, shared, report);
    }

  private:
    /// Bytes that some copies of a block read or write, all of them together.
    struct Bounds {
        std::uint64_t begin = ~std::uint64_t(0), end = 0;
        void add(std::uint64_t first, std::uint64_t last) {
            begin = std::min(begin, first), end = std::max(end, last);
        }
        bool overlap(std::uint64_t first, std::uint64_t last) const {
            return first < end && begin < last;
        }
    };
    /// Copies that may not have ended for all threads.
    struct Flight {
        AsyncCopy copy;
        const Warp* state = nullptr;
        std::uint32_t open = 0;     ///< parts for which their own threads have not waited
        std::uint32_t reads = 0;    ///< those of them that may still read their source
        std::uint32_t counted = 0;  ///< parts that an mbarrier has counted
        PerLane mbarrier{};         ///< by part: its address
        PerLane phase{};            ///< by part: the phase in which it has counted it
        Bounds from{}, to{};        ///< of all parts
    };

    Flight* find(std::uint32_t number);
    void compare(const Access& access, Space space, const BlockOrder& order,
                 const RaceCells& shared, RaceReport& report);
    static bool has_ended(const Flight& flight, unsigned part, std::uint32_t thread,
                          const BlockOrder& order);
    void check_marks(const Access& access, unsigned lane, const BlockOrder& order,
                     const RaceCells& shared, RaceReport& report);
    void check_ranges(const Access& access, unsigned lane, Space space, const BlockOrder& order,
                      RaceReport& report);
    static void report_flight(const Flight& flight, unsigned part, Hazard hazard,
                              const Access& later, unsigned lane, Space space,
                              std::uint64_t address, RaceReport& report);

    /// The bounds of what all copies of the block read in shared memory, read in global memory and
    /// write in global memory.
    Bounds shared_sources_, global_sources_, global_destinations_;
    std::deque<Flight> flights_;  ///< in the order of their numbers
    /// By cell of shared memory: the copy that writes it, as its number * 32 + the part; or 0.
    std::vector<std::uint32_t> marks_;
};

}  // namespace warpscope::emulator
