#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "emulator/checks/barrier_check.h"
#include "emulator/races/race_detector.h"
#include "emulator/stepper/stepper.h"
#include "emulator/stepper/undo_log.h"

namespace warpscope::emulator {

/// What has been observed of a block up to one position. A plain value, saved with the block.
struct Observations {
    std::vector<WordView> words;
    std::vector<std::optional<AccessView>> shared, global;  ///< for each warp, its newest access
    std::uint32_t epoch = 0;
    RaceDetector races;
    BarrierCheck barriers;
};

/// Observes the block that a Stepper runs.
class StepRecorder : public Observer {
  public:
    StepRecorder(const Memory& memory, const FrozenLaunch& launch);

    /// Before this call, which is before the block itself, the recorder only saves global stores,
    /// so that they can be undone.
    void begin() { begun_ = true; }
    void begin_step(std::uint64_t step);
    /// Forgets what lies behind `position`, where the history ends now.
    void forget_from(std::uint64_t position);

    Observations observed;
    UndoLog undo;
    Observer* also_told = nullptr;  ///< of accesses and asynchronous copies; or null
    /// Returns the waits of the whole history, which has `steps` steps.
    std::span<const BarrierWait> waits(std::uint64_t steps);
    /// The steps of the history that released a barrier.
    const std::vector<std::uint64_t>& releases() const { return releases_; }

    bool wants_instructions(const Kernel&) const override { return false; }
    void on_block_begin(const Kernel& kernel, std::uint32_t block) override;
    void on_shared_access(const Access& access) override;
    void on_global_access(const Access& access) override;
    void on_barrier_arrival(const BarrierArrival& arrival) override;
    void on_barrier_release(const BarrierRelease& release) override;
    void on_warp_sync(std::uint32_t block, std::uint32_t warp, std::uint32_t members) override;
    void on_fence(std::uint32_t block, std::uint32_t warp, std::uint32_t mask) override;
    void on_async(std::uint32_t block, const AsyncEvent& event) override;
    void on_error(std::uint32_t block, const Error& error) override;

  private:
    AccessView view(const Access& access) const;
    void update_words(const Access& access, unsigned lane);
    void note_landing(const AsyncCopy& copy, std::uint32_t parts);

    const FrozenLaunch& launch_;
    bool begun_ = false;
    std::uint64_t step_ = 0;
    bool is_new_ = true;       ///< the step is not a repetition
    std::uint64_t known_ = 0;  ///< number of steps in the history
    std::vector<BarrierWait> waits_;
    std::vector<std::uint8_t> wait_barriers_;  ///< for each wait, the number of its barrier
    std::vector<std::size_t> open_waits_;      ///< waits that no step of the history ends
    std::vector<std::uint64_t> releases_;
};

}  // namespace warpscope::emulator
