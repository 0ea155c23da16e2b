#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "emulator/counters/heat_map.h"
#include "emulator/happens_before/block_order.h"
#include "emulator/happens_before/memory_orders.h"
#include "emulator/observe/block_summaries.h"
#include "emulator/races/async_races.h"
#include "emulator/races/global_window.h"
#include "emulator/races/proxy_fences.h"
#include "emulator/races/race_cells.h"
#include "emulator/races/race_report.h"

namespace warpscope::emulator {

/// What a RaceDetector knows of a running block.
struct BlockRaces {
    struct WaitingLoad {
        std::uint64_t address = 0;  ///< of the first lane
        std::uint32_t event = 0;    ///< of the cells of global memory
    };

    BlockOrder order;
    RaceCells shared, global;
    GlobalWindow window;  ///< of global memory
    AsyncRaces async;
    ProxyFences proxies;
    std::vector<WaitingLoad> waiting;
    bool may_wait = true;       ///< global memory had only waiting loads since the last barrier
    std::uint32_t epoch = 0;    ///< the epoch that the cells have
    bool has_no_races = false;  ///< the block is proved to have no races
    /// No block may follow it: it has atomics, not all was checked, or not all warps met.
    bool is_spoiled = false;
    bool has_ended = false;
    std::uint32_t cluster_phases = 0;  ///< phases of the cluster's barrier that threads have seen
};

/// Finds races between threads of a block, in shared and in global memory: two threads access a
/// byte, at least one of them writes, at least one of them is weak, and no barrier and no release
/// and acquire of a word orders the two (see BlockOrder and MemoryOrders). A race is found under
/// every schedule, because only this order counts; where words order accesses, under every schedule
/// in which the threads read and write these words in one order. The schedule decides which access
/// comes first, so whether the hazard is RAW or WAR. A race between warps is an error; a race
/// within a warp is a warning, as in compute-sanitizer's racecheck; a write of the value that
/// another write has left in memory is a note. Reads of words of shared memory that no thread of
/// the block has written are reported as findings of their own.
///
/// Each word has one cell (RaceCells), which remembers the last write and two readers. A hazard
/// can hide another one: a write by warp 1, a read by warp 2 and a write by warp 3 give the hazards
/// 1-2 and 2-3 (or 1-3), never all three. An access of a lane counts as one hazard for each thread
/// with an earlier access that it conflicts with.
///
/// Loads of global memory by all lanes, of words that follow each other, wait until the block does
/// anything else with global memory before its next barrier. Mostly it does not, and the barrier
/// orders them before all later accesses: large arrays that are only read cost no cells.
///
/// Most blocks of a launch do what another block has done, in which nothing races. They follow it,
/// see BlockSummaries.
///
/// Races between blocks are the work of GridRaces.
///
/// A copy of a detector continues on its own from the state of the original.
class RaceDetector : public Observer, BlockSummaries {
  public:
    /// From now on `heat` gets the hazards of each launch by word. It must outlive this object, and
    /// the end of a launch must reach it after this object.
    void count_hazards_in(HeatMap& heat) {
        heat_ = &heat;
        report_.count_hazards();
    }
    std::vector<Finding> findings() const { return report_.findings(); }
    std::size_t size() const { return report_.size(); }  ///< of findings()
    /// For each 4-byte word of the block's shared memory, whether it has taken part in a race.
    const std::vector<bool>& racing_words() const { return report_.racing_words(); }

    std::unique_ptr<Observer> fork() override;
    void join(Observer& fork) override;
    void on_failure(std::uint32_t block) override { report_.forget_after(block); }
    void on_launch(const Kernel& kernel, const LaunchShape& launch) override;
    void on_launch_end() override;
    void on_block_turn(std::uint32_t block) override;
    bool wants_instructions(const Kernel&) const override { return false; }
    void on_block_begin(const Kernel& kernel, std::uint32_t block) override;
    BlockSummaries* summaries() override {
        return now_->order.by_words() || report_.flags().are_polled() ? nullptr : this;
    }
    void on_block_end(std::uint32_t block, const Statistics& statistics) override;
    void on_shared_access(const Access& access) override;
    void on_global_access(const Access& access) override;
    void on_cluster_access(const Access& access) override;
    void on_async(std::uint32_t block, const AsyncEvent& event) override;
    void on_fence(std::uint32_t block, std::uint32_t warp, std::uint32_t mask,
                  Fence fence) override;
    void on_barrier_arrival(const BarrierArrival& arrival) override;
    void on_barrier_release(const BarrierRelease& release) override;
    void on_warp_sync(std::uint32_t block, std::uint32_t warp, std::uint32_t members) override;

  private:
    void on_proved_block(const ModelBlock&) override { now_->has_no_races = true; }
    bool refuses_model() const override { return now_->is_spoiled || !report_.is_clean(); }
    void on_broadcasts(std::span<const BroadcastLoad> loads) override;

    bool can_wait(const Access& access) const;
    /// Checks the loads that wait. No other load waits until the next barrier of the whole block.
    void check_waiting();
    void check_global(const Access& access, std::uint32_t event);
    void start_copy(const AsyncEvent& event);
    void wait_for_cluster(const AsyncEvent& event);
    void follow_words(const Access& access);
    /// Makes later accesses of the warp new events.
    void separate(std::uint32_t warp);

    MemoryOrders orders_;
    RaceReport report_;
    HeatMap* heat_ = nullptr;
    std::uint32_t block_ = 0;                            ///< whose turn it is
    Boxed<BlockRaces> now_;                              ///< of that block
    std::map<std::uint32_t, Boxed<BlockRaces>> others_;  ///< that run beside it, by block
};

}  // namespace warpscope::emulator
