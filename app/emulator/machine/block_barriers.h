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
    void arrive(Warp& warp, BlockEvents* events);
    /// Threads have exited, which can complete a barrier.
    void threads_exited(BlockEvents* events);

  private:
    void release_if_complete(unsigned barrier, BlockEvents* events);
    void release(unsigned barrier, BlockEvents* events);
    void release_warp(Warp& warp, unsigned barrier);
    void set_reduction(Warp& warp, const Split& split, const BarrierState& barrier) const;
    void require_whole_warp(const Warp& warp, const Split& arrived) const;

    BlockState& block_;
    BarrierPolicy policy_;
};

}  // namespace warpscope::emulator
