#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "emulator/machine/block_runner.h"
#include "emulator/witness/access_watch.h"
#include "emulator/witness/live_registers.h"

namespace warpscope::emulator {

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
    void begin_turn(std::uint32_t warp);
    /// Continues the turn. Returns true before an access at which it stops, but not before the
    /// first instruction of a turn. Returns false where the turn is over: the warp waits, has
    /// ended, or has run long. Throws Error.
    bool go_on(StopAt where);
    /// Where go_on() has stopped: whether the turn may end here, and whether the next instruction
    /// starts asynchronous copies, for which StopAt::contended stops too.
    bool may_end_here() const { return may_end_here_; }
    bool is_at_copy() const { return is_at_copy_; }
    /// The copies that the next instruction starts do not land at once.
    void hold_copies(AsyncCopies::Hold hold) { block_.async.hold_next(hold); }
    const std::vector<HeldCopy>& held() const { return block_.async.held(); }
    /// Ends the turn at which go_on() has stopped.
    void end_turn_here();
    /// The turn so far; where go_on() has stopped, as one that ends there.
    ListedTurn turn() const;
    /// After the last turn: throws Error for a deadlock.
    void finish() { end_block(); }

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

}  // namespace warpscope::emulator
