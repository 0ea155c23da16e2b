#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "emulator/machine/block_runner.h"
#include "emulator/machine/together/resident_blocks.h"

namespace warpscope::emulator {

/// Executes an observed block one PTX instruction at a time: the turns of BlockRunner, suspended
/// after each instruction. What the decoder has inserted runs together with its neighbours.
class BlockStepper : public BlockRunner {
  public:
    using BlockRunner::BlockRunner;

    /// After begin_turns(): stops before the first instruction of the block. `together`: the blocks
    /// that run with it, each in its turns; null where it runs alone. Throws Error.
    void start(ResidentBlocks* together);
    bool finished() const { return finished_; }
    bool can_run(std::uint32_t warp) const { return !finished_ && (block_.runnable >> warp & 1); }
    /// Returns the warp that run() would run next; none when the block has finished.
    std::optional<std::uint32_t> scheduled_warp() const;
    /// The turn that run() would continue, counted from 1 over all of LaunchSettings::turns; 0: it
    /// is not listed.
    std::uint32_t listed_turn() const;
    /// The index of the instruction that a warp executes next. The warp must be able to run.
    std::uint32_t next_pc(std::uint32_t warp) const;
    /// Executes that instruction. A step of the scheduled warp continues its turn; a step of
    /// another warp is inserted and leaves the turn unchanged. Throws Error.
    void step(std::uint32_t warp);

    /// The instruction of the newest step, even if it failed. A guard may leave no lane.
    struct Executed {
        std::uint32_t pc = 0;
        std::uint32_t mask = 0;
        bool reads_old = false;  ///< see ListedTurn
    };
    const Executed& executed() const { return executed_; }
    const std::vector<Warp>& warps() const { return block_.warps; }
    const AsyncCopies& async() const { return block_.async; }
    void land(std::uint32_t copy) { block_.async.land(copy); }

    /// A suspended turn of a warp.
    struct Turn {
        bool open = false;
        std::uint32_t warp = 0;
        const Instruction* next = nullptr;
    };
    /// The block between two steps. It can be restored by the BlockStepper that has saved it.
    struct Saved {
        BlockRunner::Saved runner;
        Turn turn;
        unsigned turns = 0;
        bool finished = false;
        std::uint64_t budget = 0;  ///< what is left of the budget
        ResidentBlocks::Saved others;
    };
    Saved save() const;
    void restore(const Saved& saved);

  private:
    void insert_step(Warp& warp);
    void suspend(Warp& warp, const Turn& turn);
    void enter(Turn& turn, Warp& warp, std::uint32_t split);
    bool open_turn();
    Warp* begin_turn();
    Warp* begin_listed_turn();
    void let_others_run();
    void end_listed_turn();
    bool advance(Turn& turn);
    void advance_to_ptx();
    bool is_inserted(const Instruction* i) const;

    Turn turn_;
    Executed executed_;
    bool finished_ = false;
    ResidentBlocks* together_ = nullptr;
    unsigned turns_ = 0;  ///< since the other blocks have run
};

}  // namespace warpscope::emulator
