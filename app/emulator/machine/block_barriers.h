#pragma once

#include "emulator/machine/block_events.h"
#include "emulator/machine/block_state.h"

namespace warpscope::emulator {

/// True when a warp has one program counter: then all its lanes wait while some are at a barrier.
inline bool has_one_program_counter(BarrierPolicy policy) {
    return policy == BarrierPolicy::before_volta;
}

/// The barriers of a block. Since Volta each thread arrives for itself, and a barrier without a
/// thread count waits for every thread of the block that has not exited. Before Volta a warp
/// arrives as a whole (PTX ISA, "bar, barrier": on sm_6x and lower, if any thread of a warp
/// executes the instruction, "it is as if all the threads in the warp have", and the count grows by
/// the warp's size).
class BlockBarriers {
  public:
    BlockBarriers(BlockState& block, BarrierPolicy policy) : block_(block), policy_(policy) {}

    /// The running split of `warp` has executed a barrier instruction. `events` may be nullptr.
    void arrive(Warp& warp, BlockEvents* events) {
        Split& split = warp.splits[warp.current];
        if (!is_plain(split)) {
            if (!gathers(warp, split)) return arrive_in_general(warp, events);
            split.state = Split::gathering;
            return;
        }
        const std::uint32_t counted = add_arrivals(split.barrier, lanes_per_warp, lanes_per_warp);
        if (events) events->barrier_arrival(split.pc, warp, all_lanes, split.barrier, 0);
        if (counted >= block_.context.live_threads) release(split.barrier, events);
    }
    /// Lanes that have gathered at barriers arrive there if no other lanes of the warp can run.
    void arrive_gathered(Warp& warp, BlockEvents* events);
    /// Threads have exited, which can complete a barrier.
    void threads_exited(BlockEvents* events);

  private:
    /// True for an arrival as most are: of a whole warp, at a __syncthreads().
    bool is_plain(const Split& split) const {
        return split.mask == all_lanes && BarrierKind(split.pc->detail) == BarrierKind::sync &&
               !split.pc->operands[1] && !block_.barriers[split.barrier].expected &&
               !has_one_program_counter(policy_);
    }
    /// Returns how many have been counted.
    std::uint32_t add_arrivals(unsigned barrier, std::uint32_t threads, std::uint32_t counted) {
        block_.awaited |= 1u << barrier;
        block_.barriers[barrier].arrived += threads;
        return block_.barriers[barrier].counted += counted;
    }
    bool gathers(const Warp& warp, const Split& split) const;
    void arrive_in_general(Warp& warp, BlockEvents* events);
    void release_if_complete(unsigned barrier, BlockEvents* events);
    void release(unsigned barrier, BlockEvents* events);
    void release_split(Warp& warp, Split& split);
    void release_splits(Warp& warp, unsigned barrier);
    static std::uint32_t expected_threads(const Instruction* i, const Warp& warp,
                                          const Split& split);
    void set_reduction(Warp& warp, const Split& split, const BarrierState& barrier) const;
    void require_whole_warp(const Warp& warp, const Split& arrived) const;

    BlockState& block_;
    BarrierPolicy policy_;
};

}  // namespace warpscope::emulator
