#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "emulator/machine/observer.h"
#include "emulator/warp/warp.h"

namespace warpscope::emulator {

/// The logical time of a warp: counts the barriers before it.
struct Moment {
    std::uint32_t epoch = 0;     ///< barriers of the whole block; unique over all blocks
    std::uint32_t arrivals = 0;  ///< barriers at which the warp has arrived
    std::uint32_t round = 0;     ///< __syncwarp() calls that some of its lanes have completed
    bool operator==(const Moment&) const = default;
};

/// Tells which accesses of the running block are ordered by barriers, whatever the schedule.
///
/// A barrier at which every thread of the block waits (threads that have exited count as arrived)
/// begins a new epoch: everything before it comes before everything after it. Any other barrier
/// (with a thread count, or bar.arrive) orders what the arriving warps did before it and what the
/// waiting warps do after it. There a warp counts as a whole, even if only some of its lanes
/// arrive. Within a warp only bar.warp.sync orders its members, because the lanes of a warp need
/// not run in step (CUDA C++ Programming Guide, "Independent Thread Scheduling"). Shuffles and
/// votes do not order memory accesses (ibid., "Warp Shuffle Functions").
class BlockOrder {
  public:
    void begin_launch(std::uint32_t threads) { threads_ = threads; }  ///< threads of one block
    void begin_block();
    void arrive(const BarrierArrival& arrival);
    void release(const BarrierRelease& release);
    void warp_sync(std::uint32_t warp, std::uint32_t members);

    std::uint32_t epoch() const { return epoch_; }
    Moment now(std::uint32_t warp) const {
        return {epoch_, warps_[warp].arrivals, warps_[warp].round};
    }
    /// True when what warp `before` did at `moment`, in this epoch, comes before what warp `after`
    /// does now.
    bool warps_ordered(std::uint32_t before, const Moment& moment, std::uint32_t after) const {
        return partial_ && warps_[after].seen[before] >= moment.arrivals;
    }
    /// Lanes of `warp` whose accesses at `moment`, in this epoch, do not come before what `lane`
    /// does now. The bit of `lane` itself has no meaning.
    std::uint32_t unordered_lanes(std::uint32_t warp, const Moment& moment, unsigned lane) const;

  private:
    using Clock = std::array<std::uint32_t, 32>;
    struct WarpClock {
        std::uint32_t arrivals = 1;
        Clock seen{};  ///< by other warp: its arrivals that come before this warp's next access
        std::uint32_t round = 1;
        std::uint32_t ordered_rounds = 0;  ///< rounds before the last __syncwarp() of all lanes
        std::vector<Clock> lanes;          ///< [lane][other lane]: rounds, as in `seen`; or empty
    };
    struct Barrier {
        std::uint32_t arrived = 0;  ///< threads
        bool all_wait = true;
        bool counted = false;  ///< the instruction gives the number of threads
        Clock clock{};         ///< by warp: its arrivals that come before the release
        std::array<std::uint32_t, 32> waiting{};  ///< lanes, by warp
    };

    std::uint32_t lanes_of(std::uint32_t warp) const;

    std::uint32_t threads_ = 0;
    std::uint32_t epoch_ = 0;
    bool partial_ = false;      ///< a barrier of this epoch ordered only some of the warps
    bool any_partial_ = false;  ///< a barrier of this block did
    std::array<WarpClock, 32> warps_;
    std::array<Barrier, barriers_per_block> barriers_;
};

}  // namespace warpscope::emulator
