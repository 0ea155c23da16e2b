#pragma once

#include <memory>
#include <vector>

#include "emulator/machine/machine.h"
#include "emulator/observe/observer_list.h"
#include "emulator/races/grid/grid_races.h"
#include "emulator/races/race_detector.h"

namespace warpscope::tests {

/// Observes each launch with several forks of a GridRaces, each of which sees every n-th block, as
/// threads of the host do.
class GridForks : public emulator::Observer {
  public:
    GridForks(emulator::GridRaces& races, unsigned number) : races_(races), number_(number) {}

    void on_launch(const emulator::Kernel& kernel, const emulator::LaunchShape& launch) override {
        races_.on_launch(kernel, launch);
        forks_.clear();
        for (unsigned k = 0; k < number_; ++k)
            if (auto fork = races_.fork()) forks_.push_back(std::move(fork));
    }
    void on_launch_end() override {
        join();
        races_.on_launch_end();
    }
    void on_failure(std::uint32_t block) override {
        join();
        races_.on_failure(block);
    }
    void on_block_begin(const emulator::Kernel& kernel, std::uint32_t block) override {
        running_ = forks_.empty() ? &races_ : forks_[block % forks_.size()].get();
        running_->on_block_begin(kernel, block);
    }
    void on_global_access(const emulator::Access& access) override {
        running_->on_global_access(access);
    }
    void on_fence(std::uint32_t block, std::uint32_t warp, std::uint32_t mask,
                  emulator::Fence fence) override {
        running_->on_fence(block, warp, mask, fence);
    }
    void on_warp_sync(std::uint32_t block, std::uint32_t warp, std::uint32_t members) override {
        running_->on_warp_sync(block, warp, members);
    }
    void on_barrier_release(const emulator::BarrierRelease& release) override {
        running_->on_barrier_release(release);
    }

  private:
    // The last fork first: its order must not matter.
    void join() {
        for (; !forks_.empty(); forks_.pop_back()) races_.join(*forks_.back());
    }

    emulator::GridRaces& races_;
    unsigned number_;
    std::vector<std::unique_ptr<emulator::Observer>> forks_;
    emulator::Observer* running_ = nullptr;
};

struct GridFindings {
    std::vector<emulator::Finding> between, within;  ///< between blocks, and within them
};

/// Runs blocks of 64 threads of a kernel with a buffer of 1024 words and `numbers` as arguments.
/// The races are real, so the blocks run on one thread.
inline GridFindings grid_findings(const emulator::Kernel& kernel, std::uint32_t blocks,
                                  const std::vector<const void*>& numbers, unsigned forks,
                                  emulator::LaunchSettings settings) {
    emulator::Machine machine;
    emulator::GridRaces between;
    emulator::RaceDetector within;
    GridForks dealt(between, forks);
    emulator::ObserverList all;
    all.add(dealt);
    all.add(within);
    settings.threads = 1;
    void* out = machine.memory().allocate(1024 * 4);
    std::vector<const void*> arguments = {&out};
    arguments.insert(arguments.end(), numbers.begin(), numbers.end());
    machine.run(kernel, {{blocks, 1, 1}, {64, 1, 1}, 0}, arguments, settings, &all);
    return {between.findings(), within.findings()};
}

}  // namespace warpscope::tests
