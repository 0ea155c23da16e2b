#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "emulator/machine/aligned_bytes.h"
#include "emulator/machine/machine.h"
#include "emulator/warp/cluster.h"
#include "emulator/witness/turn_runner.h"

namespace warpscope::emulator {

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
    void begin_turn(std::uint32_t unit);
    bool go_on(StopAt where) { return acting().go_on(where); }
    bool may_end_here() const { return acting().may_end_here(); }
    bool is_at_copy() const { return acting().is_at_copy(); }
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
