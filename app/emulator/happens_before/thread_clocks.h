#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "emulator/happens_before/observed_writes.h"
#include "emulator/program/access_form.h"
#include "emulator/program/lanes.h"
#include "emulator/warp/warp.h"

namespace warpscope::emulator {

/// A vector clock, by thread.
using ThreadClock = std::vector<std::uint32_t>;

/// The clocks of a block's threads. Lanes of a warp that know of equal events share one clock, so
/// that what a whole warp does costs one join in place of 32.
class WarpClocks {
  public:
    using Lanes = std::uint32_t;  ///< a mask

    /// All clocks have this many entries, and are zero.
    void begin_launch(std::size_t threads, std::size_t entries);
    /// Lanes may share the clock of their warp again, whatever it has.
    void share_all() { sharing_.fill(~0u); }
    /// Adds entries, which are zero.
    void resize(std::size_t entries);
    /// Makes the entries from this one on zero.
    void clear_from(std::size_t entry);

    const ThreadClock& operator[](std::uint32_t thread) const {
        return is_shared(thread) ? shared_[thread / 32] : own_[thread];
    }
    ThreadClock& own(std::uint32_t thread);  ///< which the thread shares no longer
    /// From now on these lanes share a clock, and no other lanes do.
    ThreadClock& share(std::uint32_t warp, Lanes lanes, const ThreadClock& clock);
    /// The lanes share a clock, and no other lanes do: that one. Else nullptr.
    ThreadClock* shared_by(std::uint32_t warp, Lanes lanes) {
        return sharing_[warp] == lanes ? &shared_[warp] : nullptr;
    }

    /// Calls f(clock) for the clocks of these lanes, once for each.
    template <typename F>
    void for_clocks(std::uint32_t warp, Lanes lanes, F&& f) const {
        if (sharing_[warp] & lanes) f(shared_[warp]);
        for_each_lane(lanes & ~sharing_[warp], [&](unsigned lane) { f(own_[warp * 32 + lane]); });
    }
    /// Calls f(clock) for the clocks of these lanes, which may change: other lanes have others.
    template <typename F>
    void change(std::uint32_t warp, Lanes lanes, F&& f) {
        const Lanes in = sharing_[warp] & lanes, out = sharing_[warp] & ~lanes;
        if (in && out) keep_apart(warp, std::popcount(in) > std::popcount(out) ? out : in);
        if (sharing_[warp] & lanes) f(shared_[warp]);
        for_each_lane(lanes & ~sharing_[warp], [&](unsigned lane) { f(own_[warp * 32 + lane]); });
    }

  private:
    bool is_shared(std::uint32_t thread) const { return sharing_[thread / 32] >> thread % 32 & 1; }
    void keep_apart(std::uint32_t warp, Lanes lanes) {
        for_each_lane(lanes, [&](unsigned lane) { own(warp * 32 + lane); });
    }

    std::array<Lanes, 32> sharing_{};  ///< by warp: the lanes that have its clock in shared_
    std::vector<ThreadClock> shared_;  ///< by warp
    std::vector<ThreadClock> own_;     ///< by thread; without a meaning where it shares one
};

/// Vector clocks of a block's threads (Flanagan and Freund, "FastTrack", PLDI 2009), for kernels
/// whose threads order their accesses by releases and acquires of words in memory, as well as by
/// barriers (PTX ISA 8, "Memory Consistency Model").
///
/// Time is counted by warp. The clock of a thread has an entry for each thread of the block: the
/// last time up to which that thread's accesses come before what this one does next. A fence is
/// half of a pattern: a relaxed write of a word publishes what came before the writer's last fence,
/// and a thread that has read it takes that over at its next fence or barrier.
class ThreadClocks {
  public:
    using Lanes = std::uint32_t;  ///< a mask

    /// `threads` of one block; `mbarriers`: the kernel has some; `observes`: is_observed() is asked
    /// for.
    void begin_launch(std::uint32_t threads, bool mbarriers, bool observes = false);
    void begin_block();
    /// What the block has done so far comes before everything that follows.
    void begin_epoch();

    std::size_t threads() const { return threads_; }  ///< of whole warps
    std::uint32_t now(std::uint32_t warp) const { return times_[warp]; }
    /// Lanes of warp `before` whose accesses at `time`, in this epoch, do not come before what
    /// `thread` does now. The bit of the thread itself has no meaning.
    Lanes unordered_lanes(std::uint32_t before, std::uint32_t time, std::uint32_t thread) const;
    /// Tells clocks apart: threads with one clock have one result of unordered_lanes().
    const void* clock_of(std::uint32_t thread) const { return &clocks_[thread]; }

    /// Joins the clocks of these lanes, their latest accesses included.
    void publish(ThreadClock& into, std::uint32_t warp, Lanes lanes) const;

    void arrive(std::uint32_t barrier, std::uint32_t warp, Lanes lanes);
    void leave(std::uint32_t barrier, std::uint32_t warp, Lanes lanes);
    void reset_barrier(std::uint32_t barrier) { barriers_[barrier].clear(); }
    void warp_sync(std::uint32_t warp, Lanes members);
    void fence(std::uint32_t warp, Lanes lanes, MemoryOrder order = MemoryOrder::acq_rel);

    // A strong access of the word at `address`: an offset into shared memory, or in global memory.
    void read(std::uint64_t address, std::uint32_t thread, MemoryOrder order);
    /// True for a word that threads of the block poll, or access with atomics: a flag or a lock.
    bool has_been_read(std::uint64_t address) const { return polled_.contains(address); }
    void observe(std::uint64_t address, std::uint32_t thread) {
        if (observes_) observed_writes_.read(address, thread, time_of(thread));
    }
    /// Further writes are of another instruction.
    void begin_write() { observed_writes_.begin_write(); }
    /// `updates`: an atomic, which leaves what others have published with the word.
    void write(std::uint64_t address, std::uint32_t thread, MemoryOrder order, bool updates);
    /// A weak write: nothing is published with these bytes any more.
    void overwrite(std::uint64_t address, std::uint32_t bytes, std::uint32_t thread);
    bool observes() const { return observes_; }
    /// The number of the newest instruction that has written words strongly.
    std::uint32_t newest_write() const { return observed_writes_.newest(); }
    /// Write number `write` of the word comes before what `thread` does now: it, or a thread that
    /// comes before, has observed it.
    bool is_observed(std::uint64_t address, std::uint32_t write, std::uint32_t thread) const;

    // An mbarrier, by its address. What threads do before they arrive comes before what threads do
    // that have seen the end of the phase.
    void arrive_at_mbarrier(std::uint32_t mbarrier, std::uint32_t warp, Lanes lanes);
    void end_phase(std::uint32_t mbarrier);
    /// `phases` of the mbarrier have ended, as the lanes have seen.
    void see_phase(std::uint32_t mbarrier, std::uint32_t warp, Lanes lanes, std::uint32_t phases);
    /// The number of an mbarrier in its block, for phases_before().
    std::uint32_t number_of(std::uint32_t mbarrier) { return phases_of(mbarrier).number; }
    /// The phases of mbarrier `number` that have ended before what all these lanes do now.
    std::uint32_t phases_before(std::uint32_t number, std::uint32_t warp, Lanes lanes) const;

    /// What the warp does from now on comes after what its threads have published.
    void advance(std::uint32_t warp) { ++times_[warp]; }

  private:
    /// Behind the threads it has the phases that have ended of each mbarrier.
    using Clock = ThreadClock;

    /// What has been published with a word.
    struct Word {
        Clock clock;
        std::uint64_t version = 0;  ///< no other word's, and new with each write
        /// 1 + the thread that has released the word, if no other has written it since; else 0.
        std::uint32_t releaser = 0;
    };
    /// What has been published with the arrivals at an mbarrier.
    struct Phases {
        Clock arriving;  ///< of this phase
        Clock ended;     ///< of all that have ended
        std::uint32_t number = 0;
    };

    Phases& phases_of(std::uint32_t mbarrier);
    void add_mbarriers();
    void take_over_pending(std::uint32_t thread);
    /// The clock of a thread, its latest access included.
    Clock published(std::uint32_t thread) const;
    std::uint32_t time_of(std::uint32_t thread) const { return times_[thread / lanes_per_warp]; }

    std::size_t threads_ = 0;    ///< of whole warps
    std::size_t entries_ = 0;    ///< of a clock
    std::size_t mbarriers_ = 0;  ///< that have an entry
    std::array<std::uint32_t, 32> times_{};
    WarpClocks clocks_;
    // By thread; empty: nothing.
    std::vector<Clock> fenced_;   ///< its clock as it was at its last fence
    std::vector<Clock> pending_;  ///< what it has read, and takes over at its next fence
    std::unordered_map<std::uint64_t, Word> words_;  ///< by address
    std::unordered_set<std::uint64_t> polled_;       ///< addresses of strong reads
    bool observes_ = false;
    ObservedWrites observed_writes_;  ///< by threads
    std::uint64_t version_ = 0;
    std::vector<std::uint64_t> read_;  ///< by thread: the version that it has read last
    std::array<Clock, barriers_per_block> barriers_;
    std::unordered_map<std::uint32_t, Phases> phases_;  ///< by mbarrier
    /// By mbarrier: the phases that some thread has seen, and those of them before this epoch.
    std::vector<std::uint32_t> seen_phases_, phases_before_epoch_;
};

}  // namespace warpscope::emulator
