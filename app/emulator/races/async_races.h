#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
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
    void count(const AsyncEvent& event, ThreadClocks& clocks);
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
        void add(const Bounds& other) {
            begin = std::min(begin, other.begin), end = std::max(end, other.end);
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
        PerLane mbarrier{};         ///< by part: ThreadClocks::number_of() it
        PerLane phase{};            ///< by part: the phase in which it has counted it
        Bounds from{}, to{};        ///< of all parts
    };

    /// Forgets copies that have ended for all threads of the block, to which the warp belongs.
    void forget_ended(const Warp& warp, const BlockOrder& order, const RaceCells& shared);
    void clear_marks(const AsyncCopy& copy, std::uint32_t parts, const RaceCells& shared);
    static bool has_ended_for_all(const Flight& flight, const Warp& warp, const BlockOrder& order);
    void add_bounds(const Flight& flight);
    void find_bounds();
    void compare(const Access& access, Space space, const BlockOrder& order,
                 const RaceCells& shared, RaceReport& report);
    /// Whether a part of a copy has ended for all these lanes.
    static bool has_ended(const Flight& flight, unsigned part, std::uint32_t warp,
                          std::uint32_t lanes, const BlockOrder& order);
    /// `ended`: a mark whose copy has ended for all lanes of the access.
    void check_marks(const Access& access, unsigned lane, std::uint32_t& ended,
                     const BlockOrder& order, const RaceCells& shared, RaceReport& report);
    void check_ranges(const Access& access, unsigned lane, Space space, const BlockOrder& order,
                      RaceReport& report);
    static void report_flight(const Flight& flight, unsigned part, Hazard hazard,
                              const Access& later, unsigned lane, Space space,
                              std::uint64_t address, RaceReport& report);

    /// The bounds of what the flights read and write in shared and in global memory.
    Bounds shared_sources_, shared_destinations_, global_sources_, global_destinations_;
    std::map<std::uint32_t, Flight> flights_;  ///< by AsyncCopy::number
    std::size_t many_flights_ = 0;             ///< with which some may have ended for all threads
    /// By cell of shared memory: the copy that writes it, as its number * 32 + the part; or 0.
    std::vector<std::uint32_t> marks_;
};

}  // namespace warpscope::emulator
