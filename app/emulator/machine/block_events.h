#pragma once

#include <cstdint>

#include "emulator/machine/observer.h"
#include "emulator/warp/warp.h"

namespace warpscope::emulator {

/// Tells an observer what the running block does. A block without an observer has no BlockEvents,
/// and its loop has no hook for them.
class BlockEvents {
  public:
    BlockEvents(Observer& observer, const BlockContext& block);

    /// A mask of Instruction::Event: before_instruction() must be called for an instruction that
    /// has one of these.
    std::uint32_t wanted() const { return wanted_; }
    void before_instruction(const Instruction* i, const Warp& warp);

    void block_begin();
    void block_end(const Statistics& of_block);
    void error(const Error& error);
    void barrier_arrival(const Instruction* i, const Warp& warp, std::uint32_t lanes,
                         unsigned barrier, std::uint32_t expected);
    void barrier_release(unsigned barrier, std::uint32_t epoch);
    /// Completes the warp-wide instructions of `warp` whose members all wait.
    void complete_warp_syncs(Warp& warp);

  private:
    void memory_access(const Instruction* i, const Warp& warp, std::uint32_t mask);
    void uniform_shared_access(const Instruction* i, const Warp& warp);
    void generic_access(Access& access, std::uint64_t* addresses);
    void warp_barrier(const Instruction* i, const Warp& warp, std::uint32_t mask);

    Observer& observer_;
    const BlockContext& block_;
    std::uint32_t wanted_;
};

}  // namespace warpscope::emulator
