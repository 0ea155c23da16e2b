#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "emulator/happens_before/block_order.h"
#include "emulator/observe/observer.h"
#include "emulator/program/launch.h"
#include "emulator/program/module.h"

namespace warpscope::emulator {

/// The order of blocks by words of memory, as ThreadClocks have that of threads, but for blocks as
/// a whole: what one thread of a block releases, the block releases, and what one thread acquires,
/// the block acquires. The rules are those of ThreadClocks: a thread that has read a word takes
/// over what is published with it at its next fence, or at the block's next barrier, as in NVIDIA's
/// threadFenceReduction sample, in which the last block that is done reads the results of all. The
/// blocks of a launch run one after another, or take turns.
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
/// A write of a word that an atomic has observed, itself or by the chain of atomics between the
/// two, also comes before what follows that atomic in its block (PTX ISA 8, "Causality Order"): the
/// last block that counts may reset the counter. That holds for the write alone, and not for what
/// came before it.
///
/// Time is counted by block: in releases and, where observed() is asked for, in what the block
/// writes and observes of words.
class BlockClocks {
  public:
    /// `warps`: those of a block that have clocks of their own; 1: all warps have one clock.
    /// `observes`: observed() is asked for.
    void begin_launch(const LaunchShape& launch, std::uint32_t warps, bool observes);
    void begin_block(std::uint32_t block);
    /// The blocks of a cooperative launch take turns: this block goes on where it was.
    void go_on_with(std::uint32_t block);

    std::uint32_t time() const { return now_->time; }  ///< releases of the running block so far
    /// The time of an access by which a warp of the running block publishes: what it publishes with
    /// the word has the access itself.
    std::uint32_t time_of_publishing(std::uint32_t warp) const {
        const Clock& fenced =
            now_->device.fenced.empty() ? now_->cluster.fenced : now_->device.fenced;
        return fenced.empty() ? now_->time : fenced[entry_of(block_, warp)] - 1;
    }
    /// Names what the running block, or a warp of it, knows of the releases of others: nothing,
    /// where it is 0.
    std::uint32_t seen() const { return now_->seen; }
    std::uint32_t seen(std::uint32_t warp) const { return now_->seen_by_warp[place_of(warp)]; }
    /// What a warp of `block` did at `time` comes before what a warp with this `seen` does.
    bool comes_before(std::uint32_t block, std::uint32_t warp, std::uint32_t time,
                      std::uint32_t seen) const {
        return clocks_[seen][entry_of(block, warp)] > time;
    }

    /// Names the writes of the word at this address that the running block has observed; 0: none.
    std::uint32_t observed(std::uint64_t address);
    /// The write of the word by a warp of `block` at `time` is one of these.
    bool is_observed(std::uint32_t block, std::uint32_t warp, std::uint32_t time,
                     std::uint32_t observed) const {
        return observed && observations_[observed][entry_of(block, warp)] > time;
    }

    /// Lanes of a warp of the running block execute a fence that counts for other blocks.
    void fence(std::uint32_t warp, std::uint32_t lanes, Scope scope = Scope::device);
    void barrier();  ///< of the running block; counts as the fence behind its reads
    // These functions do for blocks what those of ThreadClocks do for threads.
    void read(std::uint64_t address, std::uint32_t thread, MemoryOrder order,
              Scope scope = Scope::device);
    void write(std::uint64_t address, std::uint32_t thread, MemoryOrder order, bool updates,
               Scope scope = Scope::device);
    void overwrite(std::uint64_t address, std::uint32_t bytes);
    void advance(std::uint32_t /*warp*/) {}
    /// All warps of the running block know what each of them has done and acquired.
    void order_warps();

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

    std::uint32_t place_of(std::uint32_t warp) const { return warps_ == 1 ? 0 : warp; }
    std::size_t entry_of(std::uint32_t block, std::uint32_t warp) const;
    Clock published(std::uint32_t warp);
    void take_over(const Clock& released, std::uint32_t warp);

    /// What is published with a word.
    struct Word {
        Clock clock;
        std::uint64_t version = 0;  ///< no other word's, and new with each write
    };
    /// What is published with the word at one address.
    struct Words {
        Word device;
        std::map<std::uint32_t, Word> clusters;  ///< for the blocks of each cluster
        Clock writes;  ///< the newest write, and those that atomics lead to it from
    };
    /// What a block that has not ended knows in one scope.
    struct Scoped {
        Clock fenced;                           ///< its clock at its last fence; or empty
        ByWarp<std::uint64_t> acquired{};       ///< the version of a word that it took over last
        std::map<std::uint32_t, Word> pending;  ///< by thread: read, and not taken over yet
    };
    struct Observed {
        Clock writes;
        std::uint32_t number = 0;  ///< in observations_; 0: it has none yet
    };
    struct Running {
        std::uint32_t time = 0, seen = 0;
        std::uint32_t ordered = 0;  ///< what its warps did before this time, all of them know
        ByWarp<std::uint32_t> seen_by_warp{};
        std::unordered_map<std::uint64_t, Observed> observed;  ///< by address
        Scoped device, cluster;
    };
    void take_over_pending(Scoped& scoped, std::uint32_t first_thread, std::uint32_t lanes);
    void read(Scoped& scoped, const Word& word, std::uint32_t thread, MemoryOrder order);
    void publish(Word& word, const Clock& clock, bool updates);
    void observe(std::uint64_t address, const Clock& writes);
    std::uint32_t cluster() const { return ClusterPlace::of(launch_, block_).cluster; }

    std::uint32_t warps_ = 1;
    std::uint32_t block_ = 0;
    Boxed<Running> now_;                                ///< of that block
    std::map<std::uint32_t, Boxed<Running>> others_;    ///< that run beside it, by block
    std::vector<Clock> clocks_;                         ///< by `seen`; the first one is empty
    std::vector<Clock> observations_;                   ///< by observed(); the first one is empty
    std::unordered_map<std::uint64_t, Words> words_;    ///< by address
    std::uint64_t first_word_ = ~0ull, last_word_ = 0;  ///< none of words_ is outside
    LaunchShape launch_;
    bool has_clusters_ = false;  ///< of several blocks
    bool observes_ = false;
    std::uint64_t version_ = 0;
};

/// BlockClocks for an access of one scope: see synchronise().
struct ScopedClocks {
    BlockClocks& clocks;
    Scope scope;

    void read(std::uint64_t address, std::uint32_t thread, MemoryOrder order) {
        clocks.read(address, thread, order, scope);
    }
    void write(std::uint64_t address, std::uint32_t thread, MemoryOrder order, bool updates) {
        clocks.write(address, thread, order, updates, scope);
    }
    void overwrite(std::uint64_t address, std::uint32_t bytes) { clocks.overwrite(address, bytes); }
    void advance(std::uint32_t warp) { clocks.advance(warp); }
};

/// Tells the clocks (ThreadClocks or ScopedClocks) what an access of the given order reads and
/// writes. Addresses of lanes whose access will fail mean nothing.
template <typename Clocks>
void synchronise(const Access& access, MemoryOrder order, Clocks& clocks);

}  // namespace warpscope::emulator
