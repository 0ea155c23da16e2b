#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "emulator/async/async_copies.h"

namespace warpscope::emulator {

/// Lanes of a warp that wait: from the step in which they arrive, or look for the first time, to
/// the step that lets them go on (history().size() if no step does).
struct BarrierWait {
    enum class At : std::uint8_t { barrier, mbarrier, cluster };
    std::uint32_t warp = 0, mask = 0, pc = 0;
    std::uint64_t from = 0, to = 0;
    At at = At::barrier;
    std::uint32_t barrier = 0;  ///< its number, or the address of the mbarrier
    /// The warp executes an instruction again and again that looks whether the phase has ended.
    bool looks() const { return at != At::barrier; }
};

/// An asynchronous copy that the stepped block has started, or that another block of the cluster
/// has started to its shared memory: from the step in which it starts to the one in which its last
/// part lands (history().size() if none does).
struct CopyFlight {
    std::uint32_t number = 0;  ///< of the copies of the block that has started it, from 1 on
    int rank = -1;             ///< of that block in the cluster; negative: the stepped block
    std::uint32_t warp = 0, pc = 0;
    int lane = -1;  ///< that has started a bulk copy; negative: all lanes have parts
    std::uint64_t bytes = 0;
    std::uint64_t from = 0, to = 0;
    Completion completion = Completion::group;
    std::uint32_t group = 0;     ///< of its first lane, for both kinds of groups
    std::uint32_t mbarrier = 0;  ///< its address
    int mbarrier_rank = -1;      ///< negative: of the block that has started the copy
    std::uint32_t phase = 0;     ///< of the mbarrier, that counts the bytes
    bool to_shared = true;
    bool to_stepped = false;  ///< to the shared memory of the stepped block
};

/// A moment of the stepped block that has to do with other blocks.
struct BlockMark {
    enum Kind : std::uint8_t {
        arrival_from_other,  ///< a thread of another block arrives at an mbarrier of this one
        arrival_at_other,    ///< a thread of this block arrives at an mbarrier of another one
        cluster_phase        ///< the barrier of the cluster: all have arrived
    };
    Kind kind = cluster_phase;
    std::uint64_t step = 0;
    std::uint32_t rank = 0;      ///< of the other block
    std::uint32_t thread = 0;    ///< that arrives: linear index in its block
    std::uint32_t mbarrier = 0;  ///< its address
    std::uint32_t phase = 0;     ///< the number of the phase
};

/// Things of one kind that last for some steps of the history, in the order of their beginning.
template <typename T>
class Lasting {
  public:
    void begin(const T& thing) {
        open_.push_back(all_.size());
        all_.push_back(thing);
        all_.back().to = open;
    }
    bool is_open(const auto& is) const {
        return std::any_of(open_.begin(), open_.end(), [&](auto k) { return is(all_[k]); });
    }
    /// `step` ends those for which is(thing).
    void end(std::uint64_t step, const auto& is) {
        std::erase_if(open_, [&](std::size_t k) {
            if (!is(all_[k])) return false;
            all_[k].to = step;
            return true;
        });
    }
    /// The history ends at `position` now.
    void forget_from(std::uint64_t position) {
        while (!all_.empty() && all_.back().from >= position) all_.pop_back();
        open_.clear();
        for (std::size_t k = 0; k < all_.size(); ++k) {
            if (all_[k].to >= position) all_[k].to = open;
            if (all_[k].to == open) open_.push_back(k);
        }
    }
    /// All of them, where the history has this many steps.
    std::span<const T> all(std::uint64_t steps) {
        for (const std::size_t k : open_) all_[k].to = std::max(steps, all_[k].from);
        return all_;
    }

  private:
    static constexpr std::uint64_t open = ~std::uint64_t(0);
    std::vector<T> all_;
    std::vector<std::size_t> open_;
};

/// What a timeline shows of the whole history beside its steps.
class Timeline {
  public:
    void begin_step(std::uint64_t step);
    void forget_from(std::uint64_t position);

    // What happens in the step; nothing is noted where it is repeated.
    void begin_wait(std::uint32_t warp, std::uint32_t mask, std::uint32_t pc, BarrierWait::At at,
                    std::uint32_t barrier);
    /// A warp looks for a phase. Notes the first time.
    void look(std::uint32_t warp, std::uint32_t mask, std::uint32_t pc, BarrierWait::At at,
              std::uint32_t barrier);
    void end_looking(std::uint32_t warp, BarrierWait::At at, std::uint32_t barrier);
    void release(std::uint32_t barrier);
    void begin_copy(CopyFlight copy);
    void end_copy(int rank, std::uint32_t number);
    void mark(BlockMark mark);

    std::span<const BarrierWait> waits(std::uint64_t steps) { return waits_.all(steps); }
    std::span<const CopyFlight> copies(std::uint64_t steps) { return copies_.all(steps); }
    std::span<const BlockMark> marks() const { return marks_; }
    /// The steps that released a barrier of the block.
    const std::vector<std::uint64_t>& releases() const { return releases_; }

  private:
    std::uint64_t step_ = 0;
    bool is_new_ = true;       ///< the step is not a repetition
    std::uint64_t known_ = 0;  ///< number of steps in the history
    Lasting<BarrierWait> waits_;
    Lasting<CopyFlight> copies_;
    std::vector<BlockMark> marks_;
    std::vector<std::uint64_t> releases_;
};

}  // namespace warpscope::emulator
