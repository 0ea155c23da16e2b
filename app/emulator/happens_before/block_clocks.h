#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "emulator/happens_before/block_order.h"
#include "emulator/happens_before/observed_writes.h"
#include "emulator/observe/observer.h"
#include "emulator/program/launch.h"
#include "emulator/program/module.h"

namespace warpscope::emulator {

/// The order of blocks by words of memory, as ThreadClocks have that of threads. The rules are
/// those of ThreadClocks: a thread that has read a word takes over what is published with it at its
/// next fence, or at the block's next barrier, as in NVIDIA's threadFenceReduction sample, in which
/// the last block that is done reads the results of all. The blocks of a launch run one after
/// another, or take turns.
///
/// A block has one clock. What one thread releases is what comes before the release within the
/// block: what the thread itself has done, and what the barriers of the block and of the warp order
/// before it. Each release is a step of the block, which keeps what that is. What one thread
/// acquires, its warp knows, and the block from its next barrier on. (Not so where words in shared
/// memory, mbarriers or fences of block scope may order the threads of a block: there, the block
/// releases and acquires as a whole.) A relaxed store publishes what comes before the newest fence
/// of its block: most programs that let all threads execute a fence, and one thread behind a
/// barrier set a flag, are meant so.
///
/// In clusters the warps of a block have clocks of their own, because a thread that arrives at the
/// barrier of the cluster, or at an mbarrier of another block, releases only what comes before its
/// arrival, and not what another warp of its block does until that one arrives. And only a warp
/// that has waited knows what the others have released. Whatever may order some of the warps of a
/// block counts as if it ordered all of them.
///
/// What has the scope of a cluster counts for the blocks of one cluster only. So a block of a
/// cluster has two of each: what it has read and published for its cluster, and for the device.
///
/// Time is counted by block, in steps: releases, and where threads are told apart, barriers.
class BlockClocks {
  public:
    struct Detail {
        std::uint32_t clocks = 1;  ///< of a block: one, or one for each warp
        /// Only what comes before a release within the block is released.
        bool tells_threads_apart = false;
        bool observes = false;  ///< observed() is asked for
    };
    void begin_launch(const LaunchShape& launch, const Detail& detail);
    void begin_block(std::uint32_t block);
    /// The blocks of a cooperative launch take turns: this block goes on where it was.
    void go_on_with(std::uint32_t block);

    std::uint32_t time() const { return now_->time; }  ///< steps of the running block so far
    bool tells_warps_apart() const { return detail_.clocks > 1 || detail_.tells_threads_apart; }
    /// Names what the running block, or a warp of it, knows of the releases of others: nothing,
    /// where it is 0.
    std::uint32_t seen() const { return now_->seen; }
    std::uint32_t seen(std::uint32_t warp) const { return now_->seen_by_warp[place_of(warp)]; }
    /// What a lane of a warp of `block` did at `time` comes before what a warp with this `seen`
    /// does.
    bool comes_before(std::uint32_t block, std::uint32_t warp, unsigned lane, std::uint32_t time,
                      std::uint32_t seen) const;

    /// A thread of `block` has released a word behind `time`, and one with this `seen` knows it.
    bool is_before_release(std::uint32_t block, std::uint32_t warp, std::uint32_t time,
                           std::uint32_t seen) const {
        return clocks_[seen][entry_of(block, warp)] > time;
    }

    /// f(seen) is true of what another warp of `block` has acquired behind `time`, up to the
    /// block's next barrier.
    template <typename F>
    bool another_warp_acquires(std::uint32_t block, std::uint32_t warp, std::uint32_t time,
                               F&& f) const {
        if (block >= steps_.size()) return false;
        for (std::size_t k = time; k < steps_[block].size(); ++k) {
            const Step& step = steps_[block][k];
            if (step.is_barrier) return false;
            if (step.warp != warp && step.seen && f(step.seen)) return true;
        }
        return false;
    }

    /// The number of the newest instruction that has written words strongly.
    std::uint32_t newest_write() const { return observed_writes_.newest(); }
    /// Names the writes of the words of an access that its warp has observed; 0: none.
    std::uint32_t observed(const Access& access);
    /// Write number `write` of the word at this address is one of these.
    bool is_observed(std::uint64_t address, std::uint32_t write, std::uint32_t observed) const;
    /// Changes with all that tells what a block does from what it has done.
    std::uint64_t changes() const { return changes_; }

    /// Lanes of a warp of the running block execute a fence that counts for other blocks.
    void fence(std::uint32_t warp, std::uint32_t lanes, Fence fence = {});
    void barrier();  ///< of the running block; counts as the fence behind its reads
    void warp_sync(std::uint32_t warp);
    // These functions do for blocks what those of ThreadClocks do for threads.
    void read(std::uint64_t address, std::uint32_t thread, MemoryOrder order,
              Scope scope = Scope::device);
    void observe(std::uint64_t address, std::uint32_t thread, Scope scope);
    void begin_write();
    void write(std::uint64_t address, std::uint32_t thread, MemoryOrder order, bool updates,
               Scope scope = Scope::device);
    void overwrite(std::uint64_t address, std::uint32_t bytes, std::uint32_t thread);
    void advance(std::uint32_t /*warp*/) {}
    /// All warps of the running block know what each of them has done and acquired.
    void order_warps();
    /// As order_warps(), where warps have clocks of their own.
    void may_order_warps() {
        if (detail_.clocks > 1) order_warps();
    }

  private:
    /// Times by entry_of(). Most are 0: the others lie together, because they are of one cluster.
    class Clock {
      public:
        bool empty() const { return times_.empty(); }
        std::uint32_t operator[](std::size_t entry) const {
            return entry - first_ < times_.size() ? times_[entry - first_] : 0;
        }
        // True where this clock changes.
        bool raise(std::size_t entry, std::uint32_t time);
        bool join(const Clock& other);
        bool operator==(const Clock&) const = default;

      private:
        std::size_t first_ = 0;
        std::vector<std::uint32_t> times_;  ///< neither the first nor the last one is 0
    };

    template <typename Value>
    using ByWarp = std::array<Value, 32>;

    std::uint32_t place_of(std::uint32_t warp) const { return tells_warps_apart() ? warp : 0; }
    std::size_t entry_of(std::uint32_t block, std::uint32_t warp) const;
    Clock published(std::uint32_t warp, std::uint32_t lanes);
    std::uint32_t joined(std::uint32_t seen, const Clock& released);
    void take_over(const Clock& released, std::uint32_t warp);

    /// What is published with a word.
    struct Word {
        Clock clock;
        std::uint64_t version = 0;  ///< no other word's, and new with each write
        /// Write::thread of the one that has released the word, if no other has written it since.
        std::uint64_t releaser = 0;
    };
    /// What is published with the word at one address.
    struct Words {
        Word device;
        std::map<std::uint32_t, Word> clusters;  ///< for the blocks of each cluster
    };
    /// A release, an acquire or a barrier. Of a release: what its block did before it, at another
    /// time: what all its threads know is ordered by the barriers of the block, what the warp knows
    /// by those of the warp, and a lane knows of itself.
    struct Step {
        std::uint32_t block_time = 0, warp_time = 0;
        std::uint32_t warp = 0, lanes = 0;
        std::uint32_t seen = 0;  ///< of an acquire: what the warp knows then
        bool is_barrier = false;
        bool is_behind(std::uint32_t by, unsigned lane, std::uint32_t time) const {
            return time < block_time || (by == warp && (time < warp_time || (lanes >> lane & 1)));
        }
    };
    /// What a block that has not ended knows in one scope.
    struct Scoped {
        Clock fenced;                           ///< its clock at its last fence; or empty
        ByWarp<std::uint64_t> acquired{};       ///< the version of a word that it took over last
        std::map<std::uint32_t, Word> pending;  ///< by thread: read, and not taken over yet
    };
    /// What has been observed of the word at an address.
    struct Observed {
        std::uint64_t address = 0;
        std::uint32_t bytes = 0;
        ObservedWrites::Chain chain;
        bool operator==(const Observed&) const = default;
    };
    struct Running {
        std::uint32_t time = 0, seen = 0;
        std::uint32_t ordered = 0;  ///< what its warps did before this time, all of them know
        ByWarp<std::uint32_t>
            ordered_in_warp{};  ///< what the lanes of a warp did before, they know
        ByWarp<std::uint32_t> seen_by_warp{};
        Scoped device, cluster;
    };
    void take_over_pending(Scoped& scoped, std::uint32_t first_thread, std::uint32_t lanes);
    void read(Scoped& scoped, const Word& word, std::uint32_t thread, MemoryOrder order);
    void take_step(const Step& step);
    struct Write {
        std::uint64_t thread = 0;  ///< of the grid, not 0
        bool releases = false, updates = false;
    };
    void publish(Word& word, const Write& write, const Clock& released, const Scoped& scoped);
    std::uint32_t cluster() const { return ClusterPlace::of(launch_, block_).cluster; }

    /// For observed_writes_.
    std::uint32_t reader_of(std::uint32_t thread) const {
        return std::uint32_t(entry_of(block_, thread / lanes_per_warp));
    }

    Detail detail_;
    std::uint32_t block_ = 0;
    Boxed<Running> now_;                                ///< of that block
    std::map<std::uint32_t, Boxed<Running>> others_;    ///< that run beside it, by block
    std::vector<Clock> clocks_;                         ///< by `seen`; the first one is empty
    std::vector<std::vector<Step>> steps_;              ///< by block and by the time behind it
    ObservedWrites observed_writes_;                    ///< by reader_of()
    std::vector<std::vector<Observed>> observations_;   ///< by observed(); the first one is empty
    std::unordered_map<std::uint64_t, Words> words_;    ///< by address
    std::uint64_t first_word_ = ~0ull, last_word_ = 0;  ///< none of words_ is outside
    LaunchShape launch_;
    bool has_clusters_ = false;  ///< of several blocks
    std::uint64_t version_ = 0, changes_ = 0;
};

/// BlockClocks for an access of one scope: see synchronise().
struct ScopedClocks {
    BlockClocks& clocks;
    Scope scope;

    void read(std::uint64_t address, std::uint32_t thread, MemoryOrder order) {
        clocks.read(address, thread, order, scope);
    }
    void observe(std::uint64_t address, std::uint32_t thread) {
        clocks.observe(address, thread, scope);
    }
    void write(std::uint64_t address, std::uint32_t thread, MemoryOrder order, bool updates) {
        clocks.write(address, thread, order, updates, scope);
    }
    void begin_write() { clocks.begin_write(); }
    void overwrite(std::uint64_t address, std::uint32_t bytes, std::uint32_t thread) {
        clocks.overwrite(address, bytes, thread);
    }
    void advance(std::uint32_t warp) { clocks.advance(warp); }
};

/// Tells the clocks (ThreadClocks or ScopedClocks) what an access of the given order reads and
/// writes. `observes`: the value that it reads is used. Addresses of lanes whose access will fail
/// mean nothing.
template <typename Clocks>
void synchronise(const Access& access, MemoryOrder order, bool observes, Clocks& clocks);

}  // namespace warpscope::emulator
