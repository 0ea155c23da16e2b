#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "emulator/checks/barrier_check.h"
#include "emulator/checks/race_detector.h"
#include "emulator/stepper/stepper.h"
#include "emulator/stepper/undo_log.h"

namespace warpscope::emulator {

// What is known of a block at one position, beside the state of its machine.
struct Sight {
    std::vector<WordView> words;
    std::vector<std::optional<AccessView>> shared, global;  // newest accesses, by warp
    uint32_t epoch = 0;
    RaceDetector races;
    BarrierCheck barriers;
};

// Watches the block that a Stepper steps.
class StepRecorder : public Observer {
  public:
    StepRecorder(const Memory& memory, const FrozenLaunch& launch);

    // Until then only global stores are kept, so that they can be taken back.
    void begin() { begun_ = true; }
    void begin_step(uint64_t step);
    // Steps from `position` on have not been taken.
    void forget(uint64_t position);

    Sight sight;
    UndoLog undo;
    // Those of the whole history, which has `steps`.
    std::span<const BarrierWait> waits(uint64_t steps);
    // Steps that released a barrier.
    const std::vector<uint64_t>& releases() const { return releases_; }

    bool wants_instructions() const override { return false; }
    void on_block_begin(const Kernel& kernel, uint32_t block) override;
    void on_shared_access(const Access& access) override;
    void on_global_access(const Access& access) override;
    void on_barrier_arrival(const BarrierArrival& arrival) override;
    void on_barrier_release(const BarrierRelease& release) override;
    void on_warp_sync(uint32_t block, uint32_t warp, uint32_t members) override;
    void on_error(uint32_t block, const Error& error) override;

  private:
    AccessView view(const Access& access) const;
    void note(const Access& access, unsigned lane);

    const FrozenLaunch& launch_;
    bool begun_ = false;
    uint64_t step_ = 0;
    bool is_new_ = true;  // a step that has not been taken before
    uint64_t known_ = 0;  // steps that have
    std::vector<BarrierWait> waits_;
    std::vector<uint8_t> barriers_;  // of each wait
    std::vector<size_t> open_;       // waits that no step has ended
    std::vector<uint64_t> releases_;
};

// A warp as a person sees it: joins and prefixes, which the decoder inserted, are no places.
WarpView view_of(const Kernel& kernel, const Warp& warp, BarrierPolicy barriers);

}  // namespace warpscope::emulator
