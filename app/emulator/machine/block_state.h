#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "emulator/async/async_copies.h"
#include "emulator/machine/aligned_bytes.h"
#include "emulator/machine/launch_settings.h"
#include "emulator/warp/warp.h"

namespace warpscope::emulator {

/// One of the 16 barriers of a block, between two releases.
struct BarrierState {
    std::uint32_t arrived = 0;   ///< threads
    std::uint32_t counted = 0;   ///< threads, as the barrier policy counts them
    std::uint32_t expected = 0;  ///< the instruction's thread count; 0: all threads
    std::uint32_t holding = 0;   ///< threads whose predicate holds, of a reduction
};

/// What is still to come of a listed turn: where it ends before its warp waits or ends, and whether
/// its next load gets old values: see ListedTurn.
struct OpenTurn {
    const Instruction* at = nullptr;  ///< where it ends; null: nowhere
    std::uint32_t after = 0;          ///< executions of that instruction before it
    bool reads_old = false;
    static OpenTurn of(const ListedTurn& turn, const Kernel& kernel) {
        const bool ends = turn.until < kernel.code.size();
        return {ends ? &kernel.code[turn.until] : nullptr, turn.after, turn.reads_old};
    }
    /// Nothing tells it from a turn that is not listed.
    bool is_usual() const { return !at && !reads_old; }
    bool is_here(const Instruction* i) const { return i == at && after == 0; }
    void executes(const Instruction* i) {
        if (i == at) --after;
    }
};

/// Everything that the execution of a block changes, except for the contents of shared and global
/// memory and the printed text. A plain value: assign an earlier copy back, and the block continues
/// from that moment. The pointers in a copy lead to the original state, so a copy can be assigned
/// to that state only.
struct BlockState {
    BlockContext context;
    AlignedBytes registers;  ///< of all warps
    AlignedBytes local;      ///< local memory of all threads
    std::vector<Warp> warps;
    std::array<BarrierState, barriers_per_block> barriers;
    AsyncCopies async;                     ///< of a kernel that has some
    std::uint32_t awaited = 0;             ///< barriers at which threads have arrived, a bit each
    std::uint32_t runnable = 0;            ///< warps that can run, a bit each
    std::uint32_t last_warp = 0;           ///< warp of the last turn
    std::uint32_t completed_barriers = 0;  ///< also those with a thread count
    OpenTurn turn;                         ///< the current one
    /// Turns of LaunchSettings::turns that have begun; one more: turns that are not listed, too.
    std::uint32_t listed = 0;
    std::uint32_t listed_epoch = 0;  ///< completed_barriers when they began
    std::uint64_t random = 0;        ///< the next number of the schedule's generator
    std::uint32_t next_first = 0;    ///< of the next random turn: where to look for its warp first
    std::uint64_t next_length = 0;   ///< and its length, of 2^32
    std::uint64_t unaccounted = 0;   ///< instructions that the launch's budget does not count yet
    Statistics statistics;           ///< of all blocks so far
};

/// Sets the special registers that keep their values from block to block: %tid, %ntid, %laneid, …
void set_launch_registers(BlockState& state);
/// Sets the special registers of the block in state.context: %ctaid, %smid, %nsmid.
void set_block_registers(BlockState& state, std::uint32_t sm_count);

}  // namespace warpscope::emulator
