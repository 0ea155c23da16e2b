#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "emulator/machine/block_runner.h"
#include "emulator/warp/cluster.h"
#include "emulator/warp/memory.h"
#include "emulator/warp/print.h"

namespace warpscope::emulator {

/// The registers, shared and local memory of one block.
std::uint64_t bytes_of_block(const Kernel& kernel, const LaunchShape& launch);

/// Returns the blocks of `count` clusters from `first` on: clusters one behind the other, each by
/// rank. A launch without clusters has clusters of one block.
std::vector<std::uint32_t> blocks_of_clusters(const LaunchShape& launch, std::uint32_t first,
                                              std::uint32_t count = 1);

/// Blocks of a launch that run together and may wait for each other: those of a cluster, or all
/// blocks of a cooperative launch. They take turns on one host thread, in the order of their index:
/// in its turn, a block runs one of its warps, and the block of a cluster runs until its threads
/// only wait. Each block has shared memory of its own, zero at first. With
/// LaunchSettings::together, turns[0] lists the turns instead; behind them the next warps that can
/// run follow in their order, each until it waits or ends.
class ResidentBlocks {
  public:
    /// A block that the caller runs, turn by turn, in a runner of its own: see run_others().
    struct Stepped {
        std::size_t place = 0;  ///< index into the blocks
        BlockRunner* runner = nullptr;
    };

    /// `count` blocks, whole clusters of them, take turns.
    ResidentBlocks(const Kernel& kernel, const FrozenLaunch& launch, const Memory& memory,
                   Budget& budget, std::size_t count, const MakeBlockEvents& make_events = {})
        : ResidentBlocks(kernel, launch, memory, budget, count, Stepped{}, make_events) {}
    ResidentBlocks(const Kernel& kernel, const FrozenLaunch& launch, const Memory& memory,
                   Budget& budget, std::size_t count, const Stepped& stepped,
                   const MakeBlockEvents& make_events = {});

    /// Runs as many blocks of the launch as there are places, each cluster's by rank, to their end.
    /// Throws the Error of the first one that fails. `observer` may be null.
    void run(std::span<const std::uint32_t> blocks, unsigned virtual_sms, bool from_last,
             Observer* observer);

    /// run() for a kernel that synchronises its grid, whose blocks run ahead, see
    /// BlockRunner::run_ahead(), on as many host threads as there are observers; these may be null.
    /// Then those at turnstiles take one turn each. The result does not depend on the number of
    /// threads.
    void run_ahead(std::span<const std::uint32_t> blocks, unsigned virtual_sms, bool from_last,
                   std::span<Observer* const> observers);

    /// For a stepped block: begins as run() does.
    void begin(std::span<const std::uint32_t> blocks, unsigned virtual_sms, bool from_last,
               Observer* observer) {
        begin(blocks, virtual_sms, from_last, std::span(&observer, 1));
    }
    /// Runs the other blocks until it is the stepped block's turn. Throws Error.
    void run_others();
    bool is_listed() const { return !settings_.together.empty(); }
    /// In place of run_others() where turns are listed. Returns the next turn of the stepped block;
    /// nullopt: no warp of any block can run.
    struct Turn {
        std::uint32_t warp = 0;
        OpenTurn rest;
    };
    std::optional<Turn> run_listed_others();
    /// Listed turns of all blocks that have begun; one more: turns that are not listed, too.
    std::size_t listed() const { return listed_; }
    bool has_ended(std::size_t place) const { return places_[place].ended; }
    /// All blocks but the stepped one have ended.
    bool others_have_ended() const;
    /// The most warp instructions of a turn. A warp may spin until another block stores a value.
    static constexpr std::int64_t longest_turn = 512;
    /// How many turns a block takes before the next block has its turns, unless it only waits.
    unsigned most_turns() const { return clusters_.empty() ? 1 : 64; }
    /// What blocks read as %globaltimer.
    void set_timer(std::uint64_t base);
    std::span<std::byte> shared_memory(std::size_t place) const;
    /// null: the kernel uses no cluster.
    const Cluster* cluster_of(std::size_t place) const;

    /// All blocks but the stepped one, between two turns of that one.
    struct Saved {
        std::vector<BlockRunner::Saved> blocks;
        std::vector<bool> ended;
        std::vector<Cluster::Barrier> barriers;
        std::uint32_t waiting_turns = 0;
        std::size_t turn = 0, listed = 0;
        std::uint32_t unit = 0;
    };
    Saved save() const;
    void restore(const Saved& saved);

    Statistics statistics() const;
    std::vector<ExecutionCount> executions() const {  ///< of all observed blocks so far, by pc
        std::vector<ExecutionCount> all;
        add_executions_to(all);
        return all;
    }
    void add_executions_to(std::vector<ExecutionCount>& all) const;
    void add_prints_to(LaunchPrints& prints) const;  ///< of the newest blocks

  private:
    struct Place {
        AlignedBytes shared;
        std::unique_ptr<BlockRunner> own;  ///< null: the caller has the runner
        BlockRunner* runner = nullptr;
        std::uint32_t block = 0;
        bool ended = false;
        std::exception_ptr failure;  ///< of running ahead
    };
    /// Calls f(), which returns false at the end of the block.
    template <typename F>
    void go_on(Place& place, F&& f) const;
    void take_turns(Place& place) const;
    void run_ahead(Place& place) const;
    [[noreturn]] static void rethrow_failure(const Place& place);
    /// Each of the observers is told of as many blocks, neighbours in the order of the turns.
    void begin(std::span<const std::uint32_t> blocks, unsigned virtual_sms, bool from_last,
               std::span<Observer* const> observers);
    /// Which of so many parts of the blocks the one that is `position`-th in the order belongs to.
    std::size_t part_of(std::size_t position, std::size_t parts) const {
        return position * parts / places_.size();
    }
    std::optional<std::uint32_t> next_unit(OpenTurn& turn);
    void take_listed_turn(Place& place, std::uint32_t warp, const OpenTurn& turn) const;
    void run_listed();

    const Kernel& kernel_;
    const LaunchSettings& settings_;
    const std::uint32_t warps_;  ///< of a block
    LaunchProgress* progress_;
    const std::size_t cluster_size_;
    std::vector<Place> places_;
    std::vector<AsyncCopies*> copies_;  ///< of all places
    std::vector<std::unique_ptr<Cluster>> clusters_;
    std::uint32_t waiting_turns_ = 0;
    std::vector<Place*> order_;  ///< in which the blocks take turns
    std::size_t turn_ = 0;       ///< of run_others(): the index in order_ of the newest block
    std::size_t listed_ = 0;     ///< turns of the list that have begun
    std::uint32_t unit_ = 0;     ///< of the newest listed turn
};

}  // namespace warpscope::emulator
