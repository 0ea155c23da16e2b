#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "emulator/machine/observer.h"
#include "emulator/machine/warp.h"

namespace warpscope::emulator {

// When a warp did something, as far as barriers tell.
struct Moment {
    uint32_t epoch = 0;     // barriers of the whole block so far; never the same in two blocks
    uint32_t arrivals = 0;  // barriers that the warp has come to
    uint32_t round = 0;     // warp barriers that some of its lanes have met at
    bool operator==(const Moment&) const = default;
};

// What the barriers of the running block order: which access comes before which, whatever the
// schedule.
//
// A barrier that every thread waits at (those that have exited count as come) begins a new epoch,
// and orders all before it. Any other barrier (a thread count, bar.arrive) orders what its warps
// did before they came before what the waiting ones do after; a warp counts as one there, also
// where only some of its lanes came. Within a warp bar.warp.sync orders its members; nothing else
// does, since lanes of a warp need not run in step (CUDA C++ Programming Guide, "Independent
// Thread Scheduling"). Shuffles and votes order no memory (ibid., "Warp Shuffle Functions").
class BlockOrder {
  public:
    void begin_launch(uint32_t threads) { threads_ = threads; }
    void begin_block();
    void arrive(const BarrierArrival& arrival);
    void release(const BarrierRelease& release);
    void warp_sync(uint32_t warp, uint32_t members);

    uint32_t epoch() const { return epoch_; }
    Moment now(uint32_t warp) const { return {epoch_, warps_[warp].arrivals, warps_[warp].round}; }
    // Whether what `before` did at `moment` of this epoch comes before what `after` does now.
    bool warps_ordered(uint32_t before, const Moment& moment, uint32_t after) const {
        return partial_ && warps_[after].seen[before] >= moment.arrivals;
    }
    // Lanes of `warp` whose doings at `moment` of this epoch don't come before what `lane` does
    // now; `lane` itself among them or not.
    uint32_t unordered_lanes(uint32_t warp, const Moment& moment, unsigned lane) const;

  private:
    using Clock = std::array<uint32_t, 32>;
    struct WarpClock {
        uint32_t arrivals = 1;
        Clock seen{};  // by warp: its arrivals up to here come before this warp's next doings
        uint32_t round = 1;
        uint32_t ordered_rounds = 0;  // all lanes have met since these
        std::vector<Clock> lanes;     // [lane][other]: rounds, as `seen`; or empty
    };
    struct Barrier {
        uint32_t arrived = 0;  // threads
        bool all_wait = true;
        bool counted = false;  // by the instruction: threads that have exited are none of its
        Clock clock{};         // what comes before its release
        std::array<uint32_t, 32> waiting{};  // lanes, by warp
    };

    uint32_t lanes_of(uint32_t warp) const;

    uint32_t threads_ = 0;
    uint32_t epoch_ = 0;
    bool partial_ = false;      // some barrier of this epoch ordered only some warps
    bool any_partial_ = false;  // the same of this block
    std::array<WarpClock, 32> warps_;
    std::array<Barrier, barriers_per_block> barriers_;
};

}  // namespace warpscope::emulator
