#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/async/async_copies.h"
#include "emulator/counters/heat_map.h"
#include "emulator/happens_before/block_clocks.h"
#include "emulator/happens_before/flags.h"
#include "emulator/happens_before/memory_orders.h"
#include "emulator/happens_before/told_reads.h"
#include "emulator/observe/block_summaries.h"
#include "emulator/observe/finding_log.h"
#include "emulator/races/followed_blocks.h"
#include "emulator/races/grid/grid_strips.h"
#include "emulator/warp/cluster.h"

namespace warpscope::emulator {

/// Finds races between blocks in global memory: threads of two blocks of a launch access a byte, at
/// least one of them writes, at least one of them is weak, and no release and acquire of a word
/// orders the two blocks (see BlockClocks). The result does not depend on the order in which the
/// blocks run, unless words of memory order them. A race is an error; if all blocks write one
/// value, or a read cannot get what is written (see ToldReads), a note. The count of a finding is a
/// number of cells. A cell has as many bytes as the kernel's narrowest access to global memory.
///
/// The accesses of a block that follows a model (BlockSummaries) are compared with those of the
/// other blocks at its end, by cell, unless they read memory that no block writes. As long as there
/// is no conflict, nothing more is kept of them than their distances from the model's, and what
/// some instructions have stored.
///
/// Most memory is only read, and large arrays are read in steps of one length. Such loads are kept
/// as runs (LoadRun), and recorded at the end of the launch if a block writes to that memory. Where
/// words order blocks, they wait one by one (GridStrips::WaitingLoad) for the first other access.
///
/// In clusters of several blocks, races in their shared memory are found, too. The barrier of a
/// cluster, and an arrival at an mbarrier of another block, release and acquire as a word does.
///
/// Limits: a kernel with fences, acquires or releases is checked for grids of at most 4096 blocks,
/// one with clusters in the clusters of the first 4096 blocks. The first 16 million accesses of
/// warps, and for each allocation the first 8 million groups of neighbouring words that lanes
/// access, are checked by each thread of the host.
class GridRaces : public Observer, BlockSummaries {
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
    bool wants_instructions(const Kernel&) const override { return false; }
    bool wants_shared_accesses() const override { return false; }
    BlockSummaries* summaries() override {
        return by_words() || flags_.are_used() ? nullptr : this;
    }
    void on_block_begin(const Kernel& kernel, std::uint32_t block) override;
    void on_block_turn(std::uint32_t block) override;
    void on_block_end(std::uint32_t block, const Statistics& statistics) override;
    void on_global_access(const Access& access) override;
    void on_cluster_access(const Access& access) override;
    void on_async(std::uint32_t block, const AsyncEvent& event) override;
    void on_fence(std::uint32_t block, std::uint32_t warp, std::uint32_t mask,
                  Fence fence) override;
    void on_warp_sync(std::uint32_t block, std::uint32_t warp, std::uint32_t members) override;
    void on_barrier_release(const BarrierRelease& release) override;

  private:
    using Move = ModelBlock::Move;
    void on_model_begin() override { has_strong_ = false; }
    bool refuses_model() const override { return has_strong_; }
    void on_model(const ModelBlock& model) override;
    bool needs_values(std::uint32_t pc, std::uint64_t distance) override;
    void on_stored_values(const Access& access) override;
    void on_followed(const ModelBlock& model, std::uint32_t block,
                     const Statistics& statistics) override;
    void on_broadcasts(std::span<const BroadcastLoad>) override {}  // it wants none

    /// Loads of neighbouring words by all lanes of a warp, each one step after the one before.
    struct LoadRun {
        std::uint64_t memory = 0;           ///< where it begins
        std::uint64_t first = 0, last = 0;  ///< addresses of the first lane
        std::uint64_t step = 0;
        std::uint32_t block = 0, warp = 0, pc = 0;
    };
    /// A strip that further lanes may become a part of, before it is added.
    struct OpenStrip {
        GridStrips* memory = nullptr;  ///< null: none is open
        std::uint64_t row = 0;
        std::uint32_t next_lane = 0;
        GridStrip strip;
        bool takes(const GridStrips* of, std::uint64_t in_row, const GridStrip& next) const;
    };
    /// A bulk copy of the block that reads or writes global memory, until its threads know that it
    /// has ended. Its accesses are recorded when it starts and when it has ended, because a release
    /// between the two publishes nothing of it.
    struct Flight {
        std::uint32_t block = 0;
        AsyncCopy copy;  ///< its parts that have not ended
        const Warp* state = nullptr;
        std::uint32_t counted = 0;  ///< parts that an mbarrier has counted
        std::uint32_t phase = 0;    ///< in which it has counted the newest of them
    };
    struct Suspect {
        GridStrips* memory;
        std::uint64_t row;
    };
    struct Cell {
        const GridStrips* memory = nullptr;
        std::uint64_t row = 0;
        std::uint32_t cell = 0;  ///< of the row
    };
    /// Accesses of a cell by two blocks, the lower one first.
    struct Pair : Cell {
        GridStrip first, second;
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
    /// Further events are of this block.
    void running_block(std::uint32_t block);
    bool is_beyond(std::uint32_t block) const;
    void record(const Access& access);
    bool repeats_newest(const Access& access);
    /// Adds a load to the runs, if it can wait there. False for other accesses.
    bool postpone(const Access& access);
    /// Records the runs of memory that blocks write to.
    void record_postponed();
    /// postpone() where words order blocks: the order of the accesses counts.
    bool lets_wait(const Access& access);
    /// Records the loads that wait, before any other access of the memory.
    void record_waiting(GridStrips& memory);
    bool by_words() const { return orders_.order_blocks_by_words() || told_.are_followed(); }
    std::uint64_t changes() const { return clocks_.changes() + told_.changes(); }
    std::uint32_t event_of(const Access& access);
    // Shared memory of the blocks of a cluster lies at addresses of their own, as do their
    // barriers.
    std::uint64_t address_in_block(std::uint32_t block, std::uint64_t offset) const {
        return shared_window | std::uint64_t(block) << rank_shift | offset;
    }
    static bool is_shared(std::uint64_t address) { return address >= shared_window; }
    std::uint32_t block_of_rank(std::uint32_t rank) const;
    std::uint64_t word_of(std::uint32_t block, std::uint32_t mbarrier, std::uint32_t phase) const;
    /// The memory that holds these bytes, which an instruction accesses; nullptr if none does.
    GridStrips* memory_of(std::uint32_t pc, std::uint64_t address, std::uint64_t bytes);
    /// The memory that holds all that an instruction accesses in a block that follows the model.
    GridStrips* moved_memory(const Move& move);
    /// Calls f(first lane, lanes) for neighbouring lanes that access neighbouring words.
    template <typename F>
    static void for_runs(const Access& access, std::uint32_t lanes, F&& f);
    /// Records the accesses of neighbouring lanes that access neighbouring words.
    void record_run(const Access& access, GridStrip& strip, unsigned first_lane, unsigned lanes,
                    OpenStrip& open);
    template <typename F>
    bool for_cells(const Move& move, F&& f);
    bool add_cells(std::span<const Move> moves);
    /// Returns true if a strip of a block at this distance from the model would be of a single
    /// lane.
    bool has_single_lanes(std::uint32_t pc, std::uint64_t distance, const GridStrips& memory) const;
    /// Records the accesses of blocks that follow models, if some may conflict with other blocks.
    void record_followers();
    /// Adds a strip of some lanes of the access that is recorded, together with those before if it
    /// can: lanes may access words that are not neighbours, as members of structures are.
    void add(OpenStrip& open, GridStrips& memory, std::uint64_t row, const GridStrip& strip,
             std::uint32_t lanes);
    void close(OpenStrip& open);
    void add(GridStrips& memory, std::uint64_t row, GridStrip& strip);
    bool stands_for(const GridStrip& one, const GridStrip& earlier) const;
    bool is_one_block(const GridStrip& one, const GridStrip& other) const;
    bool conflict(const GridStrip& one, const GridStrip& other) const;
    Scope scope_of(const GridStrip& strip) const;
    bool precedes(const GridStrip& one, const GridStrip& other) const;
    /// What orders the accesses of a block: the instruction, and the warp.
    std::pair<std::uint32_t, std::uint32_t> place_of(const GridStrip& strip) const;
    bool comes_before(const GridStrip& one, const GridStrip& other, const Cell& at) const;
    /// The lane of a strip that accesses a cell of it.
    std::uint32_t lane_of(const GridStrip& strip, std::uint32_t cell) const;
    void follow_words(const Access& access);
    void follow_copies(const AsyncEvent& event);
    bool in_clusters() const { return by_words() && launch_.kernel().uses_cluster; }
    /// Parts of a copy have ended: what they have done until now comes before what follows.
    void end_parts(Flight& flight, std::uint32_t parts);
    /// These lanes store what the memory has.
    static bool leaves_values(const Access& access, unsigned first_lane, unsigned last_lane);
    /// Nothing of the two strips, of one block, can differ but what the block does between them.
    bool have_one_clock(const GridStrip& one, const GridStrip& other) const;
    // These say what is missing, and set Finding::barrier or Finding::needs_atomic.
    files::Sentence cause(Finding& f, const Pair& pair) const;
    files::Sentence small_scope(const Pair& pair) const;
    files::Sentence missing_in_block(const Pair& pair) const;
    files::Sentence missing_fences(Finding& f, const Pair& pair) const;
    files::Sentence missing_order(Finding& f, const Pair& pair) const;

    /// Reports the races between blocks up to this one.
    void report(std::uint32_t last_block);
    /// Finds the races of one cell. Returns their number.
    std::uint64_t find_races(const Suspect& at, std::uint32_t cell, std::uint32_t last_block,
                             std::map<Instructions, Races>& races) const;
    /// One of them reads what a compare-and-swap will check, and the other one is an atomic.
    bool is_guess(const Pair& pair) const;
    /// Why a read that goes into a word (see ToldReads) does not get what the other access writes;
    /// empty: it may get it.
    files::Sentence why_not_read(const Pair& pair) const;
    Instructions instructions_of(const Pair& pair) const;
    std::array<std::uint64_t, 4> order_of(const Pair& pair) const;
    Finding finding(const Instructions& at, const Pair& pair) const;
    bool is_end_of_block(const GridStrip& strip) const;
    files::Sentence sentence_of_end(const Finding& finding, const Pair& pair) const;
    files::Sentence name_of_place(const Pair& pair) const;
    /// The thread of a strip that accesses a cell of it.
    ThreadAtLine thread_of(const GridStrip& strip, std::uint32_t cell) const;

    FindingLog log_, before_launch_;
    ObservedLaunch launch_;
    HeatMap* heat_ = nullptr;
    bool continues_ = false;
    /// The running block is not checked: words of memory order the blocks, of which there are too
    /// many.
    bool is_off_ = false;
    MemoryOrders orders_;
    BlockClocks clocks_;
    ToldReads told_;
    Flags flags_;
    std::vector<bool> guesses_;        ///< loads_that_guess()
    std::vector<bool> of_all_blocks_;  ///< stores_of_all_blocks()
    const Memory* memory_ = nullptr;
    std::uint32_t shared_bytes_ = 0;
    std::uint32_t cell_bytes_ = 4;
    std::uint32_t block_ = 0;
    std::vector<GridEvent> events_;      ///< the first one is not used
    std::vector<std::uint32_t> newest_;  ///< event, indexed by warp and pc; an old one if < first_
    std::vector<std::uint64_t>
        polled_;  ///< address of the newest load of one word, indexed by warp and pc
    std::uint32_t block_first_ = 1;  ///< first event of the running block
    std::uint32_t first_ = 1;        ///< first event of the running block since its last clocks
    std::map<std::uint64_t, GridStrips> memories_;  ///< indexed by address
    std::vector<GridStrips*> newest_memory_;        ///< indexed by pc
    std::vector<Flight> flights_;
    std::vector<Suspect> suspects_;          ///< rows in which blocks may race
    std::vector<LoadRun> runs_;              ///< the first one stands for none
    std::vector<std::uint32_t> newest_run_;  ///< by warp and pc; an old one if < block_run_
    std::uint32_t block_run_ = 1;            ///< first run of the running block
    // The state for blocks that follow models.
    bool has_strong_ = false;  ///< since the begin of the newest model: atomics, strong accesses
    FollowedBlocks followed_;
    /// One of the accesses conflicts with another block.
    bool has_conflict_ = false;
    /// Whether values are needed, indexed by pc and the first cell's place in its row.
    std::map<std::pair<std::uint32_t, std::uint32_t>, bool> values_;
    /// Indexed by pc of a store of a constant: its value; a store to any number of cells has it.
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
