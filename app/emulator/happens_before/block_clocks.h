#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "emulator/program/module.h"

namespace warpscope::emulator {

/// The order of blocks by words of memory, as ThreadClocks have that of threads, but for blocks as
/// a whole: what one thread of a block releases, the block releases, and what one thread acquires,
/// the block acquires. The rules are those of ThreadClocks: a thread that has read a word takes
/// over what is published with it at its next fence, or at the block's next barrier, as in NVIDIA's
/// threadFenceReduction sample, in which the last block that is done reads the results of all. The
/// blocks of a launch run one after another, or take turns.
///
/// Time is counted by block, in releases.
class BlockClocks {
  public:
    void begin_launch(std::size_t blocks);
    void begin_block(std::uint32_t block);
    /// Of a cooperative launch, whose blocks take turns: the block goes on where it was.
    void go_on_with(std::uint32_t block);

    std::uint32_t time() const { return now_.time; }  ///< releases of the running block so far
    /// The time of an access by which the running block publishes: what it publishes with the word
    /// has the access itself.
    std::uint32_t time_of_publishing() const {
        return now_.fenced.empty() ? now_.time : now_.fenced[block_] - 1;
    }
    /// Names what the running block knows of the releases of others: nothing, where it is 0.
    std::uint32_t seen() const { return now_.seen; }
    /// What `block` did at `time` comes before what a block with this `seen` does.
    bool comes_before(std::uint32_t block, std::uint32_t time, std::uint32_t seen) const {
        return clocks_[seen].size() > block && clocks_[seen][block] > time;
    }

    /// Lanes of a warp of the running block execute a fence that counts for other blocks.
    void fence(std::uint32_t warp, std::uint32_t lanes);
    void barrier();  ///< of the running block; counts as the fence behind its reads
    // As those of ThreadClocks
    void read(std::uint64_t address, std::uint32_t thread, MemoryOrder order);
    void write(std::uint64_t address, std::uint32_t thread, MemoryOrder order, bool updates);
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
    /// Of a block that has not ended.
    struct Running {
        std::uint32_t time = 0, seen = 0;
        Clock fenced;                           ///< its clock at its last fence; or empty
        std::uint64_t acquired = 0;             ///< the version of a word that it took over last
        std::map<std::uint32_t, Word> pending;  ///< by thread: read, and not taken over yet
    };

    std::size_t blocks_ = 0;
    std::uint32_t block_ = 0;
    Running now_;                                    ///< of that block
    std::map<std::uint32_t, Running> others_;        ///< that run beside it, by block
    std::vector<Clock> clocks_;                      ///< by `seen`; the first one is empty
    std::unordered_map<std::uint64_t, Word> words_;  ///< by address
    std::uint64_t version_ = 0;
};

}  // namespace warpscope::emulator
