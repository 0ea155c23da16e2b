#pragma once

#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "experiments/replicas/specimen.h"
#include "experiments/settings.h"

namespace warpscope::tests {

/// An experiment on the emulator after three steps, with its picture and report.
class Live {
  public:
    Live(std::string_view id, const std::vector<experiments::Assignment>& settings,
         const compute::RunSettings& run = {})
        : entry_(entry_of(id)), device_(compute::make_emulated_device("")) {
        device_->set(run);
        experiment_ = entry_->make(*device_);
        experiment_->set(settings);
        for (int frame = 0; frame < 3; ++frame) experiment_->step();
    }
    experiments::Experiment& experiment() { return *experiment_; }
    const experiments::Entry& entry() const { return *entry_; }
    experiments::Specimen specimen() { return experiments::Specimen(*entry_, *experiment_); }
    std::vector<experiments::PolicyOutcome> policies() {
        return experiments::try_policies(*entry_, *experiment_);
    }
    experiments::Inspection inspection(std::uint64_t instructions = 300'000'000) {
        return experiments::inspect({*entry_, *experiment_, device_->settings()},
                                    compute::usual_emulator_memory(), {}, instructions);
    }
    std::vector<experiments::Rgba> picture() { return picture_of(*experiment_); }
    static std::vector<experiments::Rgba> picture_of(experiments::Experiment& experiment) {
        const experiments::Size size = experiment.picture_size({128, 96});
        compute::Buffer<experiments::Rgba> pixels(
            experiment.device(), std::size_t(size.width) * std::size_t(size.height));
        experiment.render_into({pixels.pointer(), size});
        return pixels.download();
    }

  private:
    experiments::SharedEntry entry_;
    std::unique_ptr<compute::EmulatedDevice> device_;
    std::unique_ptr<experiments::Experiment> experiment_;
};

/// The first argument of a launch, in host memory: where the ripple and the n-body kernels store.
inline const std::byte* first_argument(const emulator::FrozenLaunch& launch) {
    const std::byte* pointer = nullptr;
    std::memcpy(&pointer, launch.arguments.data(), sizeof pointer);
    return pointer;
}

/// Schedules and seeds that must give equal results.
inline const std::vector<compute::RunSettings> runs{
    {.schedule = compute::Schedule::run_to_barrier},
    {.schedule = compute::Schedule::reverse},
    {.schedule = compute::Schedule::random, .seed = 1},
    {.schedule = compute::Schedule::random, .seed = 99}};

}  // namespace warpscope::tests
