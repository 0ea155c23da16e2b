#pragma once

#include <array>

#include "emulator/checks/findings.h"
#include "emulator/machine/observer.h"
#include "emulator/machine/warp.h"

namespace warpscope::emulator {

// Finds barriers that not every thread reaches, as compute-sanitizer's synccheck does:
//   error    a part of a warp arrives without the rest (unless the barrier is one that allows it,
//            barrier.sync without .aligned), or threads wait for each other for ever
//   warning  the barrier passes although threads of the block have ended before it: synccheck,
//            which goes by the rule of Volta and later, has nothing to say there
// A part that goes another way and ends there is the one or the other, by what came first.
class BarrierCheck : public Observer {
  public:
    std::vector<Finding> findings() const { return log_.findings(); }

    std::unique_ptr<Observer> fork() override;
    void join(Observer& fork) override;
    void on_failure(uint32_t block) override { log_.forget_after(block); }
    void on_launch(const Kernel& kernel, const Launch& launch) override {
        places_.begin(kernel, launch);
        log_.begin_launch();
    }
    void on_block_begin(const Kernel&, uint32_t block) override {
        log_.begin_block(block);
        last_ = {.block = block, .mask = 1};
    }
    bool wants_instructions() const override { return false; }
    bool wants_global_accesses() const override { return false; }
    void on_barrier_arrival(const BarrierArrival& arrival) override;
    void on_barrier_release(const BarrierRelease& release) override;
    void on_error(uint32_t block, const Error& error) override;

  private:
    Finding finding_at(const BarrierArrival& arrival, Severity severity) const;

    FindingLog log_;
    Places places_;
    std::array<BarrierArrival, barriers_per_block> newest_;  // by barrier
    BarrierArrival last_;  // of the block; where there is none yet, its first thread at its entry
};

}  // namespace warpscope::emulator
