#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "emulator/machine/launch_settings.h"
#include "emulator/machine/machine.h"
#include "emulator/machine/old_values.h"
#include "emulator/observe/observer_list.h"
#include "emulator/races/grid/grid_races.h"
#include "emulator/races/race_detector.h"
#include "emulator/witness/access_watch.h"

namespace warpscope::emulator {

/// A load that gets what a word held before a store of another warp.
struct OldRead {
    OldValues::Store store;
    std::uint32_t block = 0, warp = 0, pc = 0;  ///< of the load
};

/// Tells whether PTX lets a load get the older value: nothing orders the store before the load, as
/// the race check has it. It has to be told of all that the blocks do before the load.
class OldReadCheck : public Observer {
  public:
    /// `blocks`: those that run, by linear index.
    OldReadCheck(const FrozenLaunch& launch, std::span<const std::uint32_t> blocks,
                 const OldRead& read);
    /// The next execution of the load is the one that is asked about.
    void expect_load() { is_next_ = true; }
    bool is_allowed();

    void on_shared_access(const Access& access) override;
    void on_global_access(const Access& access) override;
    void on_cluster_access(const Access& access) override;
    void on_barrier_arrival(const BarrierArrival& arrival) override;
    void on_barrier_release(const BarrierRelease& release) override;
    void on_warp_sync(std::uint32_t block, std::uint32_t warp, std::uint32_t members) override;
    void on_async(std::uint32_t block, const AsyncEvent& event) override;
    void on_fence(std::uint32_t block, std::uint32_t warp, std::uint32_t mask,
                  Fence fence) override;
    void on_block_turn(std::uint32_t block) override;

  private:
    bool hears(const Access& access);

    const Kernel& kernel_;
    const OldRead read_;
    RaceDetector in_block_;
    GridRaces between_blocks_;
    ObserverList checks_;
    bool is_next_ = false, is_over_ = false;
};

/// Two accesses of different warps to one word, in the other order than in the reference. Where
/// blocks run together, the warps are units.
struct Reversal {
    std::uint32_t warp = 0, pc = 0;              ///< comes first
    std::uint32_t other_warp = 0, other_pc = 0;  ///< has not come yet
};

/// The order whose result the others are compared with.
enum class ReferenceOrder : std::uint8_t {
    in_step,  ///< all warps advance together, access by access
    /// Each warp runs until it waits or ends: where warps in step lose an update, or make fewer
    /// words right.
    serial
};

/// An order of the warps of a block whose result differs from that of the reference.
struct Witness {
    std::vector<std::vector<ListedTurn>> turns;  ///< LaunchSettings::turns
    std::optional<BlockGroup> together{};        ///< blocks run together, and warps are units
    std::vector<HeldCopy> held{};                ///< all other copies land at once
    unsigned preemptions = 0;                    ///< turns that end although their warp could go on
    Reversal reversal;
    std::optional<OldRead> old_read{};  ///< in place of the reversal: a turn reads old values
    files::Sentence error;              ///< the block fails with it; empty: it ends
    std::uint64_t words = 0;            ///< of global memory that differ
    /// These words are expected ones, but the reference does not make them right either.
    bool is_wrong_anyway = false;
    std::uint64_t address = 0;              ///< of the first one
    std::uint32_t value = 0, expected = 0;  ///< what it holds, and what the reference has
};

/// A pair of lines whose accesses race: the places of a finding, as users_place() has them.
using LinePair = std::pair<std::string, std::string>;

struct OrderSearch {
    /// How far it looks: orders with at most so many preemptions and asynchronous copies that do
    /// not land at once, for this time.
    unsigned preemptions = 2;
    std::chrono::milliseconds time{2000};
    std::stop_token stop{};
    /// Counts the milliseconds of `time` that have passed; or null.
    std::shared_ptr<LaunchProgress> progress{};
    /// Looks for a witness for each of them, in which accesses of these lines come in the other
    /// order. Empty: any witness ends the search.
    std::vector<LinePair> pairs{};
    /// What people expect. If the reference makes some words right, an order is a witness only if
    /// one of these is wrong in it, or if a word that the reference makes wrong is another one.
    /// Null, or none is right: any word may differ.
    JudgeWord judge{};

    struct Result {
        std::optional<BlockGroup>
            together{};  ///< the blocks whose orders were run; empty: one block
        ReferenceOrder reference = ReferenceOrder::in_step;
        std::uint64_t judged = 0;  ///< words that the reference makes right; 0: any may differ
        std::uint64_t wrong = 0;   ///< words that the reference makes wrong
        std::vector<std::optional<Witness>> witnesses;  ///< one for each of `pairs`; else one
        /// All orders with at most so many preemptions were run, as far as they can differ; empty:
        /// not even those without one.
        std::optional<unsigned> exhausted;
        double orders = 0;  ///< how many orders that is, but for endless ones
        /// Orders were run, too, in which a load gets an older value: all of `exhausted`?
        bool tried_old_values = false, tried_all_old_values = false;
        bool endless = false;     ///< there are orders in which a warp waits in a loop for ever
        std::uint64_t turns = 0;  ///< that were run
    };
    /// Searches the orders of the warps of one block, those with fewer preemptions first (iterative
    /// context bounding, Musuvathi and Qadeer 2007). A warp is preempted only before it accesses a
    /// word for which warps contend, and warps that do not contend are not permuted. For pairs that
    /// have no witness, where words may order the threads: orders in which a load gets an older
    /// value, as PTX lets it where nothing orders the store before it. Memory is afterwards as it
    /// was before. Throws Error: invalid launch, an earlier block that fails.
    Result run(Machine& machine, const FrozenLaunch& launch, std::uint32_t block) const;
    /// Searches the orders of several blocks, which become LaunchSettings::together, as run() does
    /// those of one. The warps of a witness are units. The other blocks run as OtherBlocks says;
    /// those that run before may take five times `time` in addition.
    Result run_together(Machine& machine, const FrozenLaunch& launch,
                        std::vector<std::uint32_t> blocks) const;

  private:
    template <typename Run>
    Result with_old_values(FrozenLaunch launch, const Run& run) const;
};

}  // namespace warpscope::emulator
