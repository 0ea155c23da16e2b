#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "emulator/happens_before/thread_clocks.h"
#include "emulator/observe/observer.h"
#include "emulator/warp/warp.h"

namespace warpscope::emulator {

/// A large value that takes no time to move or to swap. A copy has a value of its own.
template <typename T>
class Boxed {
  public:
    Boxed() : value_(std::make_unique<T>()) {}
    Boxed(const Boxed& other) : value_(std::make_unique<T>(*other)) {}
    Boxed(Boxed&&) noexcept = default;
    Boxed& operator=(const Boxed& other) { return *this = Boxed(other); }
    Boxed& operator=(Boxed&&) noexcept = default;
    ~Boxed() = default;

    T& operator*() { return *value_; }
    const T& operator*() const { return *value_; }
    T* operator->() { return value_.get(); }
    const T* operator->() const { return value_.get(); }

  private:
    std::unique_ptr<T> value_;
};

/// The logical time of a warp: counts the barriers before it.
struct Moment {
    std::uint32_t epoch = 0;     ///< barriers of the whole block; unique over all blocks
    std::uint32_t arrivals = 0;  ///< barriers at which the warp has arrived
    /// __syncwarp() calls that some of its lanes have completed; ThreadClocks::now() where threads
    /// have clocks.
    std::uint32_t round = 0;
    std::uint32_t writes = 0;  ///< strong ones of words, where threads observe them
    bool operator==(const Moment&) const = default;
};

/// Tells which accesses of the running block are ordered, whatever the schedule.
///
/// A barrier at which every thread of the block waits (threads that have exited count as arrived)
/// begins a new epoch: everything before it comes before everything after it. Any other barrier
/// (with a thread count, or bar.arrive) orders what the arriving warps did before it and what the
/// waiting warps do after it. There a warp counts as a whole, even if only some of its lanes
/// arrive. Within a warp only bar.warp.sync orders its members, because the lanes of a warp need
/// not run in step (CUDA C++ Programming Guide, "Independent Thread Scheduling"). Shuffles and
/// votes do not order memory accesses (ibid., "Warp Shuffle Functions").
///
/// In a kernel with fences, releases or acquires the threads have clocks, which also know the order
/// by words of memory, and by lane what barriers of some threads order. An epoch begins as above.
class BlockOrder {
  public:
    /// `threads` of one block; `by_words`: they have clocks; `mbarriers`: so have these;
    /// `observes`: ThreadClocks::is_observed() is asked for.
    void begin_launch(std::uint32_t threads, bool by_words, bool mbarriers, bool observes);
    void begin_block();
    void arrive(const BarrierArrival& arrival);
    void release(const BarrierRelease& release);
    void warp_sync(std::uint32_t warp, std::uint32_t members);

    std::uint32_t epoch() const { return epoch_; }
    bool by_words() const { return by_words_; }
    ThreadClocks& clocks() { return clocks_; }
    const ThreadClocks& clocks() const { return clocks_; }
    Moment now(std::uint32_t warp) const {
        const WarpClock& w = warps_[warp];
        if (by_words_) return {epoch_, w.arrivals, clocks_.now(warp), clocks_.newest_write()};
        return {epoch_, w.arrivals, w.round};
    }
    /// True when what warp `before` did at `moment`, in this epoch, comes before what warp `after`
    /// does now. Only where threads have no clocks.
    bool warps_ordered(std::uint32_t before, const Moment& moment, std::uint32_t after) const {
        return partial_ && warps_[after].seen[before] >= moment.arrivals;
    }
    /// Lanes of warp `before` whose accesses at `moment`, in this epoch, do not come before what
    /// this lane of warp `after` does now: of one warp, unless threads have clocks. The lane's own
    /// bit has no meaning.
    std::uint32_t unordered_lanes(std::uint32_t before, const Moment& moment, std::uint32_t after,
                                  unsigned lane) const;

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
    void release_some(std::uint32_t barrier);

    std::uint32_t threads_ = 0;
    std::uint32_t epoch_ = 0;
    bool partial_ = false;      ///< a barrier of this epoch ordered only some of the warps
    bool any_partial_ = false;  ///< a barrier of this block did
    std::array<WarpClock, 32> warps_;
    std::array<Barrier, barriers_per_block> barriers_;
    bool by_words_ = false;
    ThreadClocks clocks_;
};

}  // namespace warpscope::emulator
