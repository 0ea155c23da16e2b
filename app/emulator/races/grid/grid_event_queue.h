#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "emulator/races/grid/grid_races.h"

namespace warpscope::emulator {

/// The fork of a GridRaces where words of memory order the blocks. Only GridRaces itself can tell
/// what these order, so it is told of all blocks: of those that run at one time with others when
/// the blocks take turns again (see Observer::on_turns_begin()), and of a turn at once. Only weak
/// accesses come at one time with those of other blocks.
class GridEventQueue : public Observer {
  public:
    explicit GridEventQueue(GridRaces& races) : races_(races) {}

    bool wants_instructions(const Kernel&) const override { return false; }
    bool wants_shared_accesses() const override { return false; }
    void on_turns_end() override { waits_ = true; }
    void on_turns_begin() override;
    void on_block_begin(const Kernel& kernel, std::uint32_t block) override {
        races_.on_block_begin(kernel, block);
    }
    void on_block_turn(std::uint32_t block) override { add(Turn{block}); }
    void on_global_access(const Access& access) override;
    void on_fence(std::uint32_t block, std::uint32_t warp, std::uint32_t mask,
                  Fence fence) override {
        add(WarpFence{block, warp, mask, fence});
    }
    void on_warp_sync(std::uint32_t block, std::uint32_t warp, std::uint32_t members) override {
        add(WarpSync{block, warp, members});
    }
    void on_barrier_release(const BarrierRelease& release) override { add(release); }

  private:
    struct Turn {
        std::uint32_t block;
    };
    struct WarpFence {
        std::uint32_t block, warp, mask;
        Fence fence;
    };
    struct WarpSync {
        std::uint32_t block, warp, members;
    };
    using Event = std::variant<Turn, WarpFence, WarpSync, BarrierRelease, Access>;

    void add(const Event& event) { waits_ ? events_.push_back(event) : tell(event); }
    void tell(const Event& event);
    void tell_access(Access access);

    GridRaces& races_;
    bool waits_ = false;
    std::vector<Event> events_;
    // Of the accesses that wait, one behind the other:
    std::vector<std::uint64_t> addresses_;  ///< the first one of neighbouring words, else 32
    std::vector<std::byte> values_;         ///< of stores
    std::size_t told_addresses_ = 0, told_values_ = 0;
};

}  // namespace warpscope::emulator
