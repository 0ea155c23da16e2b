#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "emulator/program/module.h"
#include "emulator/warp/launch.h"

namespace warpscope::emulator {

/// The order of blocks by words of memory, as ThreadClocks have that of threads, but for blocks as
/// a whole: what one thread of a block releases, the block releases, and what one thread acquires,
/// the block acquires. The rules are those of ThreadClocks: a thread that has read a word takes
/// over what is published with it at its next fence, or at the block's next barrier, as in NVIDIA's
/// threadFenceReduction sample, in which the last block that is done reads the results of all. The
/// blocks of a launch run one after another, or take turns.
///
/// What has the scope of a cluster counts for the blocks of one cluster only. So a block of a
/// cluster has two of each: what it has read and published for its cluster, and for the device.
///
/// Time is counted by block, in releases.
class BlockClocks {
  public:
    /// `blocks`: of the launch; 0: the clocks are not used.
    void begin_launch(const LaunchShape& launch, std::size_t blocks);
    void begin_block(std::uint32_t block);
    /// Of a cooperative launch, whose blocks take turns: the block goes on where it was.
    void go_on_with(std::uint32_t block);

    std::uint32_t time() const { return now_.time; }  ///< releases of the running block so far
    /// The time of an access by which the running block publishes: what it publishes with the word
    /// has the access itself.
    std::uint32_t time_of_publishing() const {
        const Clock& fenced = now_.device.fenced.empty() ? now_.cluster.fenced : now_.device.fenced;
        return fenced.empty() ? now_.time : fenced[block_] - 1;
    }
    /// Names what the running block knows of the releases of others: nothing, where it is 0.
    std::uint32_t seen() const { return now_.seen; }
    /// What `block` did at `time` comes before what a block with this `seen` does.
    bool comes_before(std::uint32_t block, std::uint32_t time, std::uint32_t seen) const {
        return clocks_[seen].size() > block && clocks_[seen][block] > time;
    }

    /// Lanes of a warp of the running block execute a fence that counts for other blocks.
    void fence(std::uint32_t warp, std::uint32_t lanes, Scope scope = Scope::device);
    void barrier();  ///< of the running block; counts as the fence behind its reads
    // As those of ThreadClocks
    void read(std::uint64_t address, std::uint32_t thread, MemoryOrder order,
              Scope scope = Scope::device);
    void write(std::uint64_t address, std::uint32_t thread, MemoryOrder order, bool updates,
               Scope scope = Scope::device);
    void overwrite(std::uint64_t address, std::uint32_t bytes);
    void advance(std::uint32_t /*warp*/) {}

  private:
    using Clock = std::vector<std::uint32_t>;  ///< releases, by block; or empty

    Clock published();
    void take_over(const Clock& released);

    /// What is published with a word.
    struct Word {
        Clock clock;
        std::uint64_t version = 0;  ///< no other word's, and new with each write
    };
    using Words = std::unordered_map<std::uint64_t, Word>;  ///< by address
    /// Of a block that has not ended, for one scope.
    struct Scoped {
        Clock fenced;                           ///< its clock at its last fence; or empty
        std::uint64_t acquired = 0;             ///< the version of a word that it took over last
        std::map<std::uint32_t, Word> pending;  ///< by thread: read, and not taken over yet
    };
    struct Running {
        std::uint32_t time = 0, seen = 0;
        Scoped device, cluster;
    };
    void take_over_pending(Scoped& scoped, std::uint32_t first_thread, std::uint32_t lanes);
    void read(Scoped& scoped, const Words& words, std::uint64_t address, std::uint32_t thread,
              MemoryOrder order);
    void publish(Words& words, std::uint64_t address, const Clock& clock, bool updates);
    /// Null where each cluster has one block.
    Words* words_of_cluster() {
        return has_clusters_ ? &words_of_clusters_[ClusterPlace::of(launch_, block_).cluster]
                             : nullptr;
    }

    std::size_t blocks_ = 0;
    std::uint32_t block_ = 0;
    Running now_;                              ///< of that block
    std::map<std::uint32_t, Running> others_;  ///< that run beside it, by block
    std::vector<Clock> clocks_;                ///< by `seen`; the first one is empty
    Words words_;
    std::map<std::uint32_t, Words> words_of_clusters_;
    LaunchShape launch_;
    bool has_clusters_ = false;  ///< of several blocks
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

}  // namespace warpscope::emulator
