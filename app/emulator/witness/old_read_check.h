#pragma once

#include <cstdint>
#include <span>

#include "emulator/machine/launch_settings.h"
#include "emulator/machine/old_values.h"
#include "emulator/observe/observer_list.h"
#include "emulator/races/grid/grid_races.h"
#include "emulator/races/race_detector.h"

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

}  // namespace warpscope::emulator
