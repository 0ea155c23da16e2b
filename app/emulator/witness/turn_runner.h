#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "emulator/machine/aligned_bytes.h"
#include "emulator/machine/block_runner.h"
#include "emulator/machine/machine.h"
#include "emulator/program/module.h"
#include "emulator/warp/cluster.h"
#include "emulator/witness/access_watch.h"

namespace warpscope::emulator {

/// Which registers of a kernel may still be read, at each of its instructions. Two states of a warp
/// that differ in other registers have the same future.
class LiveRegisters {
  public:
    explicit LiveRegisters(const Kernel& kernel);

    /// Bytes of a warp's register file.
    struct Piece {
        std::uint32_t offset = 0, bytes = 0;
    };
    /// Those that may be read from this instruction on. An instruction that the decoder has
    /// inserted has those of the next one.
    const std::vector<Piece>& at(const Instruction* pc) const;

  private:
    const Kernel& kernel_;
    std::vector<std::vector<Piece>> pieces_;  ///< by statement
};

/// Whether a kernel starts asynchronous copies.
bool starts_copies(const Kernel& kernel);

/// Runs one block turn by turn. Its user chooses the warp of each turn, and may end a turn before
/// an access. Machine::run with the turns in LaunchSettings::turns does the same.
class TurnRunner : public BlockRunner {
  public:
    TurnRunner(const FrozenLaunch& launch, const Memory& memory, Budget& budget,
               AccessWatch& watch);

    /// Stops before the block's first instruction.
    void start(std::uint32_t block, std::uint32_t sm, std::uint32_t sm_count, std::byte* shared);

    /// Warps that can run and do not wait for a phase, of an mbarrier or of the barrier of the
    /// cluster, a bit each.
    std::uint32_t ready_warps() const;
    /// Whether key() covers the whole state: it knows no copies and no mbarriers.
    bool has_whole_key() const { return !kernel_.has_mbarriers && !has_copies_; }
    std::uint32_t epoch() const { return block_.completed_barriers; }

    /// Where go_on() stops, before the turn is over.
    enum class StopAt : std::uint8_t { end_only, contended, any_access };
    /// `reads_old`: see ListedTurn. Only with LaunchSettings::keeps_old_values.
    void begin_turn(std::uint32_t warp, bool reads_old = false);
    /// Continues the turn. Returns true before an access at which it stops, but not before the
    /// first instruction of a turn. Returns false where the turn is over: the warp waits, has
    /// ended, or has run long. Throws Error.
    bool go_on(StopAt where);
    /// Where go_on() has stopped: whether the turn may end here, and whether the next instruction
    /// starts asynchronous copies, for which StopAt::contended stops too.
    bool may_end_here() const { return may_end_here_; }
    bool is_at_copy() const { return is_at_copy_; }
    /// The store whose value the next load need not get, where the turn may end before the load and
    /// go on with it; or nullopt.
    std::optional<OldValues::Store> other_store() const;
    /// The copies that the next instruction starts do not land at once.
    void hold_copies(AsyncCopies::Hold hold) { block_.async.hold_next(hold); }
    const std::vector<HeldCopy>& held() const { return block_.async.held(); }
    /// Ends the turn at which go_on() has stopped.
    void end_turn_here();
    /// The turn so far; where go_on() has stopped, as one that ends there.
    ListedTurn turn() const;
    /// After the last turn: throws Error for a deadlock.
    void finish() { end_block(); }
    /// A whole turn, as Machine::run would run it with the list of turns.
    void take_turn(std::uint32_t warp, const ListedTurn& turn) {
        take_listed_turn(warp, OpenTurn::of(turn, kernel_));
    }
    OldValues* old_values() const { return old_values_.get(); }

    /// The block between two accesses. Only this runner can restore it.
    struct Position {
        BlockState block;
        std::vector<std::byte> shared;
        std::vector<std::uint32_t> written;
        PrintLog::Mark printed;
        std::uint32_t warp = 0;
        bool suspended = false, has_executed = false, may_end_here = false;
        std::vector<std::pair<std::uint32_t, std::uint32_t>> passes;
        std::size_t logged = 0;
    };
    Position save() const;
    void restore(const Position& position);

    /// Numbers for the state of the block: equal ones have the same future.
    using Key = std::pair<std::uint64_t, std::uint64_t>;
    Key key() const;
    /// A number for the registers and the place of the warp whose turn it is: cheaper.
    std::uint64_t warp_key() const;

  private:
    bool waits_for_phase(std::uint32_t warp) const;

    AccessWatch& watch_;
    const LiveRegisters live_;
    const std::vector<bool> starts_copies_;  ///< by pc
    const bool has_copies_;
    std::uint32_t warp_ = 0;
    bool suspended_ = false;
    bool has_executed_ = false;  ///< an instruction in this turn
    bool may_end_here_ = false, is_at_copy_ = false;
    bool reads_clock_ = false;
    /// The accesses that this turn has executed, and how often.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> passes_;
};

/// Runs one block, or several ones together, turn by turn. Its functions are those of TurnRunner,
/// for units: the warps of any of the blocks (BlockGroup).
class UnitRunner {
  public:
    using StopAt = TurnRunner::StopAt;
    using Key = TurnRunner::Key;

    /// One block, behind those whose shared memory it finds. Throws Error.
    UnitRunner(Machine& machine, const FrozenLaunch& launch, std::uint32_t block, Budget& budget,
               AccessWatch& watch);
    /// Those of LaunchSettings::together, behind the other blocks that run before them
    /// (OtherBlocks). Throws Error.
    UnitRunner(Machine& machine, const FrozenLaunch& launch, Budget& budget, AccessWatch& watch);

    /// Units, a bit each. One that waits for a phase, of an mbarrier or of the barrier of the
    /// cluster, cannot run, as at any barrier; if all do, the lowest one looks again, and copies
    /// land meanwhile.
    std::uint32_t runnable() const;
    /// Whether key() may be compared: it covers the whole state, and not all units wait.
    bool has_whole_key() const { return runners_[0]->has_whole_key() && ready() != 0; }
    /// The epoch of the one block; 0 where several run together.
    std::uint32_t epoch() const { return runners_.size() == 1 ? runners_[0]->epoch() : 0; }
    /// The unit that runs next where no turn is listed: see Schedule::manual.
    std::uint32_t usual_unit() const;
    void begin_turn(std::uint32_t unit, bool reads_old = false);
    void take_turn(const ListedTurn& turn);
    bool go_on(StopAt where) { return acting().go_on(where); }
    bool may_end_here() const { return acting().may_end_here(); }
    bool is_at_copy() const { return acting().is_at_copy(); }
    std::optional<OldValues::Store> other_store() const { return acting().other_store(); }
    void hold_copies(AsyncCopies::Hold hold) { acting().hold_copies(hold); }
    std::vector<HeldCopy> held() const;  ///< of all blocks
    void end_turn_here() { acting().end_turn_here(); }
    ListedTurn turn() const;
    void finish();

    struct Position {
        std::vector<TurnRunner::Position> blocks;
        Cluster::Barrier barrier;  ///< of the cluster, if there is one
        std::uint32_t waiting_turns = 0;
        std::uint32_t unit = 0;
        OldValues::Words old{};
    };
    Position save() const;
    void restore(const Position& position);
    Key key() const;
    std::uint64_t warp_key() const { return acting().warp_key(); }

  private:
    std::uint32_t ready() const;
    std::uint32_t able() const;  ///< the units that can run, a bit each
    TurnRunner& acting() const { return *runners_[unit_ / warps_]; }

    const std::uint32_t warps_;  ///< of a block
    std::vector<std::vector<std::byte>> of_sms_;
    std::vector<AlignedBytes> shared_;
    std::vector<std::unique_ptr<TurnRunner>> runners_;
    std::optional<Cluster> cluster_;
    std::vector<AsyncCopies*> copies_;  ///< of the cluster's blocks
    std::uint32_t waiting_turns_ = 0;
    std::uint32_t unit_ = 0;  ///< of the newest turn
};

}  // namespace warpscope::emulator
