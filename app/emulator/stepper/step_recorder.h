#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "emulator/checks/barrier_check.h"
#include "emulator/observe/observer.h"
#include "emulator/races/race_detector.h"
#include "emulator/stepper/stepper.h"

namespace warpscope::emulator {

class Memory;
struct Kernel;

/// The global stores of a block in their order, so that they can be undone and redone.
class UndoLog {
  public:
    UndoLog(const Memory& memory, const Kernel& kernel) : memory_(memory), kernel_(kernel) {}

    /// Saves the old contents. Must be called before a global store or atomic executes, also when a
    /// step is repeated. Invalid addresses are ignored: the instruction will not write them.
    void save(const Access& access);
    /// Saves bytes that lie in one allocation.
    void save(std::uint64_t address, std::size_t bytes);
    /// Number of stores that are in memory now.
    std::size_t mark() const { return done_; }
    /// Undoes or redoes stores until memory is as it was at `mark`.
    void move_to(std::size_t mark);
    /// Removes the undone stores.
    void forget_undone();

  private:
    struct Entry {
        std::uint64_t address = 0;
        std::size_t bytes = 0;
        std::size_t at = 0;  ///< offset into bytes_
        bool operator==(const Entry&) const = default;
    };
    void swap(const Entry& entry);

    const Memory& memory_;
    const Kernel& kernel_;
    std::vector<Entry> entries_;
    /// Contents before the store; for an undone store, those after it.
    std::vector<std::byte> bytes_;
    std::size_t done_ = 0;
};

/// What has been observed of a block up to one position. A plain value, saved with the block.
struct Observations {
    struct Tile {
        std::vector<WordView> words;
        std::uint32_t epoch = 0;
    };
    std::vector<Tile> tiles;  ///< of the blocks of the cluster, by rank
    std::vector<std::optional<AccessView>> shared, global;  ///< for each warp, its newest access
    RaceDetector races;
    BarrierCheck barriers;
};

/// Observes the block that a Stepper runs, and the blocks that run with it: what they store to
/// global memory and to the shared memory of the cluster.
class StepRecorder : public Observer {
  public:
    StepRecorder(const Memory& memory, const FrozenLaunch& launch, std::uint32_t block);

    /// Before this call, which is before the block itself, the recorder only saves global stores,
    /// so that they can be undone.
    void begin() { begun_ = true; }
    void begin_step(std::uint64_t step);
    /// Forgets what lies behind `position`, where the history ends now.
    void forget_from(std::uint64_t position);

    Observations observed;
    Observations::Tile& own_tile() { return observed.tiles[rank_]; }
    UndoLog undo;
    Timeline timeline;
    Observer* also_told = nullptr;  ///< of the block's accesses and asynchronous copies; or null

    bool wants_instructions(const Kernel&) const override { return false; }
    void on_block_begin(const Kernel& kernel, std::uint32_t block) override;
    void on_shared_access(const Access& access) override;
    void on_global_access(const Access& access) override;
    void on_cluster_access(const Access& access) override;
    void on_barrier_arrival(const BarrierArrival& arrival) override;
    void on_barrier_release(const BarrierRelease& release) override;
    void on_warp_sync(std::uint32_t block, std::uint32_t warp, std::uint32_t members) override;
    void on_fence(std::uint32_t block, std::uint32_t warp, std::uint32_t mask,
                  Fence fence) override;
    void on_async(std::uint32_t block, const AsyncEvent& event) override;
    void on_error(std::uint32_t block, const Error& error) override;

  private:
    bool is_stepped(std::uint32_t block) const { return begun_ && block == block_; }
    /// The rank of a block of the cluster, as seen from the block of rank `from`, whose own is -1.
    int rank_of(std::uint32_t block, std::uint32_t from) const;
    int rank_of(std::uint32_t block) const { return rank_of(block, rank_); }
    /// The tile of a block of the cluster; null for another block.
    Observations::Tile* tile_of(std::uint32_t block);
    AccessView view(const Access& access) const;
    void update_words(const Access& access, std::uint32_t rank, std::uint64_t address,
                      unsigned lane);
    void on_own_async(const AsyncEvent& event);
    void note_start(std::uint32_t block, const AsyncEvent& event);
    void note_landing(std::uint32_t block, const AsyncEvent& event);
    std::uint32_t rank_written(std::uint32_t block, const AsyncCopy& copy) const;
    void note_remote_arrival(std::uint32_t block, const AsyncEvent& event);

    const FrozenLaunch& launch_;
    const std::uint32_t block_, rank_, cluster_;  ///< of the stepped block
    bool begun_ = false;
    std::uint64_t step_ = 0;
};

}  // namespace warpscope::emulator
