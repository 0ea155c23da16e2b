#pragma once

#include <array>
#include <cstdint>

#include "emulator/observe/finding_log.h"
#include "emulator/observe/observed_launch.h"
#include "emulator/observe/observer.h"
#include "emulator/warp/warp.h"

namespace warpscope::emulator {

/// Finds barriers that not every thread reaches. It reports what compute-sanitizer's synccheck
/// reports, and a warning that synccheck does not have.
/// Error: some lanes of a warp arrive without the others (except at barrier.sync without .aligned,
/// which allows it), or the threads of a block wait for each other forever.
/// Warning: the barrier completes although threads of the block have exited before it. Synccheck
/// reports nothing here, because since Volta exited threads do not count. Lanes that take another
/// branch and exit there give an error if the others arrive before that, a warning if they arrive
/// after it.
class BarrierCheck : public Observer {
  public:
    std::vector<Finding> findings() const { return log_.findings(); }

    std::unique_ptr<Observer> fork() override;
    void join(Observer& fork) override;
    void on_failure(std::uint32_t block) override { log_.forget_after(block); }
    void on_launch(const Kernel& kernel, const LaunchShape& launch) override {
        launch_.begin(kernel, launch);
        log_.begin_launch();
    }
    void on_block_begin(const Kernel&, std::uint32_t block) override {
        log_.begin_block(block);
        last_ = {.block = block, .mask = 1};
    }
    bool wants_instructions() const override { return false; }
    bool wants_global_accesses() const override { return false; }
    bool wants_shared_accesses() const override { return false; }
    void on_barrier_arrival(const BarrierArrival& arrival) override;
    void on_barrier_release(const BarrierRelease& release) override;
    void on_error(std::uint32_t block, const Error& error) override;

  private:
    Finding finding_at(const BarrierArrival& arrival, Severity severity) const;

    FindingLog log_;
    ObservedLaunch launch_;
    std::array<BarrierArrival, barriers_per_block> newest_;  ///< indexed by barrier
    /// The newest arrival of the block. Before the first one it is thread 0 at the kernel's entry.
    BarrierArrival last_;
};

}  // namespace warpscope::emulator
