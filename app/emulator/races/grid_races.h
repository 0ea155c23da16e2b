#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "emulator/checks/finding_log.h"
#include "emulator/checks/heat_map.h"
#include "emulator/checks/observed_launch.h"
#include "emulator/machine/observer.h"
#include "emulator/order/block_clocks.h"
#include "emulator/order/memory_orders.h"
#include "emulator/races/followed_blocks.h"
#include "emulator/races/grid_strips.h"

namespace warpscope::emulator {

/// Finds races between blocks in global memory: threads of two blocks of a launch access a byte, at
/// least one of them writes, at least one of them is weak, and no release and acquire of a word
/// orders the two blocks (see BlockClocks). The result does not depend on the order in which the
/// blocks run, but where words order them. A race is an error; if all blocks write one value, a
/// warning. The count of a finding is that of cells: as many bytes as the kernel's narrowest access
/// to global memory has.
///
/// The accesses of a block that follows a model (BlockModel) are compared with those of the other
/// blocks at its end, by cell. As long as there is no conflict, nothing more is kept of them than
/// their distances from the model's.
///
/// Limits: a kernel with fences, acquires or releases is checked for grids of at most 4096 blocks.
/// The first 16 million accesses of warps, and of each allocation the first 8 million groups of
/// neighbouring words that lanes access, are checked by each thread of the host.
class GridRaces : public Observer {
  public:
    /// From now on `heat` gets the hazards of each launch by word, as from a RaceDetector.
    void count_hazards_in(HeatMap& heat) { heat_ = &heat; }
    std::vector<Finding> findings() const { return log_.findings(); }
    /// The next launch has further blocks of the last one.
    void continue_launch() { continues_ = true; }

    std::unique_ptr<Observer> fork() override;
    void join(Observer& fork) override;
    void on_failure(std::uint32_t block) override { report(block); }
    void on_launch(const Kernel& kernel, const LaunchShape& launch) override;
    void on_launch_end() override { report(~0u); }
    bool wants_instructions() const override { return false; }
    bool wants_shared_accesses() const override { return false; }
    bool follows_models() const override { return !has_strong_; }
    void on_model(const BlockModel& model) override;
    bool needs_values(std::uint32_t pc, std::uint64_t distance) override;
    void on_stored_values(const Access& access) override;
    void on_followed(const BlockModel& model, std::uint32_t block,
                     const Statistics& statistics) override;
    void on_block_begin(const Kernel& kernel, std::uint32_t block) override;
    void on_global_access(const Access& access) override;
    void on_fence(std::uint32_t block, std::uint32_t warp, std::uint32_t mask) override;
    void on_fence_of_block(std::uint32_t, std::uint32_t, std::uint32_t) override {}
    void on_barrier_release(const BarrierRelease& release) override;

  private:
    using Move = BlockModel::Move;
    struct Suspect {
        GridStrips* memory;
        std::uint64_t row;
    };
    /// Accesses of a cell by two blocks, the lower one first.
    struct Pair {
        GridStrip first, second;
        GridStrips* memory = nullptr;
        std::uint64_t row = 0;
        std::uint32_t cell = 0;
    };
    /// What the races of one finding have in common.
    struct Instructions {
        std::uint32_t first_pc = 0, second_pc = 0;
        Severity severity = Severity::error;
        Hazard hazard = Hazard::none;
        auto operator<=>(const Instructions&) const = default;
    };
    struct Races {
        std::uint64_t count = 0;
        Pair example;
    };

    void prepare(const Kernel& kernel);
    void find_constants(const Kernel& kernel);
    void begin_block(std::uint32_t block);
    void record(const Access& access);
    bool by_words() const { return orders_.order_blocks_by_words(); }
    std::uint32_t event_of(const Access& access);
    /// The memory that holds these bytes, which an instruction accesses; nullptr if none does.
    GridStrips* memory_of(std::uint32_t pc, std::uint64_t address, std::uint64_t bytes);
    /// That of all that an instruction accesses in a block that follows the model.
    GridStrips* moved_memory(const Move& move);
    /// Calls f(first lane, lanes) for neighbouring lanes that access neighbouring words.
    template <typename F>
    static void for_runs(const Access& access, std::uint32_t lanes, F&& f);
    /// Of neighbouring lanes that access neighbouring words.
    void record_run(const Access& access, GridStrip& strip, unsigned first_lane, unsigned lanes);
    template <typename F>
    bool for_cells(const Move& move, F&& f);
    bool add_cells();
    /// A strip of a block at this distance from the model would have a single cell.
    bool has_single_cells(std::uint32_t pc, std::uint64_t distance, const GridStrips& memory) const;
    /// Records the accesses of blocks that follow models.
    void record_followers();
    void add(GridStrips& memory, std::uint64_t row, GridStrip& strip);
    bool is_one_block(const GridStrip& one, const GridStrip& other) const;
    bool precedes(const GridStrip& one, const GridStrip& other) const;
    /// What orders the accesses of a block: the instruction, and the warp.
    std::pair<std::uint32_t, std::uint32_t> place_of(const GridStrip& strip) const;
    bool comes_before(const GridStrip& one, const GridStrip& other) const;
    void follow_words(const Access& access);
    /// Nothing of the two strips, of one block, can differ but what the block does between them.
    bool have_one_clock(const GridStrip& one, const GridStrip& other) const;
    std::string cause(const Pair& pair) const;

    /// Reports the races between blocks up to this one.
    void report(std::uint32_t last_block);
    /// Of one cell. Returns their number.
    std::uint64_t find_races(const Suspect& at, std::uint32_t cell, std::uint32_t last_block,
                             std::map<Instructions, Races>& races) const;
    Instructions instructions_of(const Pair& pair) const;
    std::array<std::uint64_t, 4> order_of(const Pair& pair) const;
    Finding finding(const Instructions& at, const Pair& pair) const;
    /// The thread of a strip that accesses a cell of it.
    ThreadAtLine thread_of(const GridStrip& strip, std::uint32_t cell) const;

    FindingLog log_;
    ObservedLaunch launch_;
    HeatMap* heat_ = nullptr;
    bool continues_ = false;
    bool is_off_ = false;  ///< too many blocks in a kernel by words
    MemoryOrders orders_;
    BlockClocks clocks_;
    const Memory* memory_ = nullptr;
    std::uint32_t cell_bytes_ = 4;
    std::uint32_t block_ = 0;
    std::vector<GridEvent> events_;      ///< the first one stands for none
    std::vector<std::uint32_t> newest_;  ///< event by warp and pc; an old one if < first_
    std::uint32_t block_first_ = 1;      ///< event of the running block
    std::uint32_t first_ = 1;            ///< event of the running block since its last clocks
    std::map<std::uint64_t, GridStrips> memories_;  ///< by address
    std::vector<GridStrips*> newest_memory_;        ///< by pc
    std::vector<Suspect> suspects_;                 ///< rows in which blocks may race
    // Of blocks that follow models
    bool has_strong_ = false;  ///< the kernel has atomics or strong accesses
    FollowedBlocks followed_;
    bool has_conflict_ = false;                 ///< one of them with another block
    std::vector<std::uint32_t> newest_valued_;  ///< by pc: the block whose values were needed
    /// Whether values are needed, by pc and the first cell's place in its row.
    std::map<std::pair<std::uint32_t, std::uint32_t>, bool> values_;
    std::vector<Move> counted_;  ///< of the running block
    /// By pc of a store of a constant: its value; such a store to any number of cells has_value.
    std::map<std::uint32_t, std::uint32_t> constants_;
};

template <typename F>
void GridRaces::for_runs(const Access& a, std::uint32_t lanes, F&& f) {
    if (a.consecutive) return f(0u, lanes_per_warp);
    if (a.consecutive_halves) {
        f(0u, half_warp);
        return f(half_warp, half_warp);
    }
    const auto follows = [&](unsigned lane) {
        return lane < lanes_per_warp && (lanes >> lane & 1) && !a.same_address &&
               a.lane_addresses[lane] - a.lane_addresses[lane - 1] == a.bytes;
    };
    while (lanes) {
        const auto first = unsigned(std::countr_zero(lanes));
        unsigned end = first + 1;
        while (follows(end)) ++end;
        f(first, end - first);
        lanes &= std::uint32_t(~std::uint64_t(0) << end);
    }
}

}  // namespace warpscope::emulator
