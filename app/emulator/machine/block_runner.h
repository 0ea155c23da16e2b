#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "emulator/machine/block_barriers.h"
#include "emulator/machine/block_events.h"
#include "emulator/machine/block_state.h"
#include "emulator/machine/launch_settings.h"
#include "emulator/machine/old_values.h"
#include "emulator/machine/still_watch.h"
#include "emulator/machine/warp_scheduler.h"
#include "emulator/observe/observer_list.h"
#include "emulator/warp/cluster.h"

namespace warpscope::emulator {

/// Runs the blocks of a launch one after the other, on one host thread. In a turn, one warp
/// executes instructions until its turn is used up, it waits or it has exited.
class BlockRunner {
  public:
    BlockRunner(const Kernel& kernel, const LaunchShape& launch, const Memory& memory,
                std::span<const std::byte> arguments, const LaunchSettings& settings,
                Budget& budget, MakeBlockEvents make_events = {});
    BlockRunner(const BlockRunner&) = delete;
    BlockRunner& operator=(const BlockRunner&) = delete;

    /// Runs a block to its end on virtual SM `sm`, whose shared memory begins at `shared`. Throws
    /// Error.
    void run(std::uint32_t block, std::uint32_t sm, std::uint32_t sm_count, std::byte* shared,
             Observer* observer);
    /// The two of them in place of run(), for blocks that take turns, each with a runner of its
    /// own. take_turn() runs one warp for at most `most` instructions; it returns false where the
    /// block has ended. Throws Error.
    void begin_turns(std::uint32_t block, std::uint32_t sm, std::uint32_t sm_count,
                     std::byte* shared, Observer* observer);
    bool take_turn(std::int64_t most);
    /// Beside take_turn(), for a kernel that synchronises its grid: runs the warps until each waits
    /// or is at a turnstile, or for about `most` instructions, of which a turn has at most
    /// `most_of_turn`. Blocks may do so at one time, each on a host thread of its own. Returns
    /// false where the block has ended. Throws Error, of which tell_error() tells the observer.
    bool run_ahead(std::int64_t most_of_turn, std::int64_t most);
    /// Some of its warps are at turnstiles, since the block has run ahead.
    bool needs_turn() const { return at_turnstiles_ != 0; }
    void tell_error(const Error& error);
    /// Runs this warp, which can run, to where a listed turn ends.
    void take_listed_turn(std::uint32_t warp, const OpenTurn& turn);
    /// The blocks of both runners run together: the old values of one are those of the other.
    void share_old_values(const BlockRunner& other) { old_values_ = other.old_values_; }
    /// Warps that can run, a bit each.
    std::uint32_t runnable_warps() const { return block_.runnable; }
    /// The newest turn did nothing but look at phases that have not ended.
    bool turn_has_waited() const { return block_.context.async && block_.async.turn_has_waited(); }
    Cluster::Block block_of_cluster() { return {&block_.context, block_.warps}; }
    const Statistics& statistics() const { return block_.statistics; }  ///< of all blocks so far
    /// The counts of all observed blocks so far, by pc; empty where none was observed.
    std::span<const ExecutionCount> executions() const { return executions_; }
    const PrintLog& printed() const { return printed_; }  ///< by the newest block

    /// A block between two turns or two instructions, with its shared memory. It can be restored by
    /// the BlockRunner that has saved it.
    struct Saved {
        BlockState block;
        std::vector<std::byte> shared;
        PrintLog::Mark printed;
        OldValues::Words old{};
    };
    Saved save() const;
    void restore(const Saved& saved);

    /// How many turnstiles a block passes in a turn: a thread that waits for another block polls a
    /// word behind one.
    static constexpr std::uint32_t most_passes = 16;

  protected:
    /// Prepares a block; `observer` may be nullptr.
    void begin(std::uint32_t block, std::uint32_t sm, std::uint32_t sm_count, std::byte* shared,
               Observer* observer);
    /// Makes the warp's next split the running one and returns its next instruction; nullptr when
    /// the turn is used up or no split can run.
    const Instruction* enter_split(Warp& warp);
    /// enter_split() of a warp with one split, which can run.
    static const Instruction* enter_only_split(Warp& warp) {
        warp.enter(0);
        return warp.stopped_at;
    }
    /// The running split cannot continue. Returns true when another split may run in this turn.
    bool leave_split(Warp& warp) {
        warp.leave();
        count(warp.executed());
        if (warp.outcome == Warp::Outcome::paused) {
            if (warp.splits.size() > 1 && !is_at_turnstile(warp)) begin_with_next_split(warp);
            return false;
        }
        if (warp.outcome != Warp::Outcome::at_barrier) return has_another_split(warp);
        barriers_.arrive(warp, events_);
        return false;
    }
    /// After a turn: records that the warp cannot run, if that is so.
    void end_turn(Warp& warp) {
        if (block_.context.async) end_async_turn();
        if (warp.splits.size() == 1 && warp.outcome == Warp::Outcome::paused) return;
        if (!next_split(warp)) barriers_.arrive_gathered(warp, events_);
        if (!next_split(warp)) block_.runnable &= ~(1u << warp.index);
        warp.note_only_split();
    }
    void end_async_turn();
    /// The split is stopped by a turnstile, so that the next turn of its warp begins with it.
    bool is_at_turnstile(const Warp& warp) const {
        return runs_ahead_ && warp.is_stopped_by(warp.stopped_at);
    }
    /// The next turn of the warp starts with another split.
    void begin_with_next_split(Warp& warp) const;
    /// After the last turn: throws Error for a deadlock or a spent budget.
    void end_block();
    /// The split that runs next; nullptr when none can run.
    const Split* next_split(const Warp& warp) const {
        if (warp.splits.size() != 1) return next_of_several(warp);
        return warp.splits[0].state == Split::runnable ? &warp.splits[0] : nullptr;
    }
    /// The old values for an instruction, if its turn lets it read them; or null. It is the one
    /// access of the turn that does.
    OldValues* take_old_values(const Instruction* i) {
        constexpr std::uint32_t accesses = Instruction::shared_access | Instruction::global_access;
        if (!block_.turn.reads_old || !(i->events & accesses)) return nullptr;
        block_.turn.reads_old = false;
        return old_values_.get();
    }
    /// Counts executed instructions.
    void count(std::uint64_t instructions) {
        // Instructions between two looks at the launch's budget, unless a turn is longer.
        constexpr std::uint64_t counted_together = 1 << 15;
        block_.context.clock += instructions;
        block_.unaccounted += instructions;
        if (block_.unaccounted >= counted_together) spend_budget();
    }

    const Kernel& kernel_;
    const LaunchShape launch_;
    const LaunchSettings settings_;
    Budget& budget_;
    std::uint64_t prepaid_ = 0;  ///< instructions that are off the budget and were not executed yet
    Statistics before_block_;    ///< of the blocks before the one that takes turns
    const WarpScheduler scheduler_;
    PrintLog printed_;
    BlockState block_;
    BlockBarriers barriers_;
    std::vector<ExecutionCount> executions_;  ///< by pc
    BlockEvents* events_ = nullptr;           ///< of an observed block

  private:
    void begin_run(std::uint32_t block, std::uint32_t sm, std::uint32_t sm_count, std::byte* shared,
                   Observer* observer);
    void allocate(const Memory& memory, std::span<const std::byte> arguments);
    void set_registers();
    void clear_memory();
    template <bool observed>
    void run_warps();
    template <bool observed>
    [[gnu::always_inline]] inline void run_turn(Warp& warp);
    template <bool observed>
    void run_turn_to_stop(Warp& warp);
    void run_observed();
    bool take_one_turn(std::int64_t most);
    Warp* begin_turn();
    void run_one_turn(Warp& warp);
    void run_to_turnstiles(std::int64_t most_of_turn, std::uint64_t end);
    void tell_end();
    [[gnu::noinline]] const Split* next_of_several(const Warp& warp) const;
    bool has_another_split(Warp& warp);
    /// Completes the warp-wide instructions at which all their lanes wait.
    void complete_warp_syncs(Warp& warp);
    void flush_counts();
    void spend_budget();
    void poll_stop() const;
    BlockEvents* events_of(Observer& observer);
    Observer& behind_old_values(Observer* observer);

    const MakeBlockEvents make_events_;
    std::unique_ptr<BlockEvents> made_events_;  ///< of the newest observer
    ObservedBlock unobserved_;                  ///< of blocks that the observer does not want
    bool runs_ahead_ = false;
    std::uint32_t at_turnstiles_ = 0;      ///< warps, a bit each: see needs_turn()
    std::uint32_t last_at_turnstile_ = 0;  ///< the warp of the newest turn behind run_ahead()
    StillWatch still_;
    ObserverList with_old_values_;  ///< the observer of a block, behind old_values_

  protected:
    std::shared_ptr<OldValues> old_values_;  ///< null: LaunchSettings do not ask for them
};

}  // namespace warpscope::emulator
