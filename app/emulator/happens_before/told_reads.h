#pragma once

#include <cstdint>
#include <vector>

#include "emulator/happens_before/block_clocks.h"
#include "emulator/happens_before/memory_orders.h"
#include "emulator/observe/observer.h"
#include "emulator/program/launch.h"
#include "emulator/program/module.h"

namespace warpscope::emulator {

/// Reads that come before writes of other blocks although no release and acquire orders the two.
/// The value that a thread reads goes into a word that it, or a thread behind a barrier of its
/// block, stores strongly, and the other block looks at this word and then writes. The word cannot
/// have the value before it was read (PTX ISA 8, "No Thin Air"), so the read does not get
/// what is written then. Scans that look back, such as CUB's, are so where they work in place.
///
/// In the words of the PTX ISA the two race all the same, but the race does no harm. It is
/// understood for a read and a later write only.
///
/// The instructions alone tell which values go into a word: what a thread loads from shared memory
/// may be what any thread has stored there.
class ToldReads {
  public:
    /// The launch has at most so many blocks; clusters and cooperative launches are not followed.
    static constexpr std::uint64_t most_blocks = 4096;

    void begin_launch(const Kernel& kernel, const LaunchShape& launch, const MemoryOrders& orders);
    /// The kernel has both halves: words that tell of what was read, and threads that look at them.
    bool are_followed() const { return is_followed_; }
    /// The value that this instruction reads may go into a word.
    bool may_be_told(std::uint32_t pc) const { return is_followed_ && told_[pc]; }

    // As of BlockClocks.
    std::uint64_t changes() const { return clocks_.changes(); }
    void begin_block(std::uint32_t block);
    void barrier();
    void warp_sync(std::uint32_t warp);
    void access(const Access& access, const MemoryOrders& orders);

    /// The moment of the next event of a warp: events have the numbers 1, 2, and so on.
    void add_event(std::uint32_t warp);
    bool is_one_moment(std::uint32_t event, std::uint32_t other) const {
        return !is_followed_ || moments_[event] == moments_[other];
    }
    /// What a lane of a warp of `block` reads at an event comes before what is done at the other
    /// one.
    bool comes_before(std::uint32_t block, std::uint32_t warp, unsigned lane, std::uint32_t event,
                      std::uint32_t other) const {
        return clocks_.comes_before(block, warp, lane, moments_[event].time, moments_[other].seen);
    }

  private:
    class ValueSources;
    struct Moment {
        std::uint32_t time = 0, seen = 0;  ///< see BlockClocks
        bool operator==(const Moment&) const = default;
    };

    void find_told(const Kernel& kernel, const MemoryOrders& orders, const ValueSources& sources,
                   const std::vector<std::uint32_t>& words);

    bool is_followed_ = false;
    std::vector<bool> told_;   ///< by pc: of global memory, not by a strong load
    std::vector<bool> tells_;  ///< by pc: a strong store, or an atomic, of what was read
    std::vector<bool> looks_;  ///< by pc: a strong read that weak stores depend on
    BlockClocks clocks_;       ///< words release and acquire there which tell of what was read
    std::vector<Moment> moments_;
};

}  // namespace warpscope::emulator
