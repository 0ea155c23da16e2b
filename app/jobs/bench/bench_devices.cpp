#include <fmt/format.h>

#include "compute/cuda/cuda_device.h"
#include "compute/pick_ranks.h"
#include "experiments/nbody/nbody_state.h"
#include "jobs/bench/bench.h"

namespace warpscope::jobs {

namespace {

using experiments::Bodies;
using experiments::NBodyKernel;
using experiments::NBodyState;

/// The goal for two H200: a step on one GPU with the kernel `fast` divided by a step on both.
struct ScalingGoal {
    std::size_t bodies;
    double wanted;
};
constexpr ScalingGoal goals[] = {{16384, 1.5}, {65536, 1.93}, {262144, 1.98}, {1048576, 1.99}};

constexpr int runs = 5;

void wait_for(compute::Device& device) {
    for (compute::Device* own : experiments::devices_of(device)) own->synchronize();
}

/// The median wall time of one of `steps` calls that are queued together.
double queued_ms(compute::Device& device, std::size_t steps, const std::function<void()>& step) {
    std::vector<double> times;
    for (int run = 0; run < runs; ++run) {
        wait_for(device);
        times.push_back(milliseconds_of([&] {
                            for (std::size_t i = 0; i < steps; ++i) step();
                            wait_for(device);
                        }) /
                        double(steps));
    }
    return median(std::move(times));
}

double step_ms(compute::Device& device, const Bodies& bodies) {
    NBodyState state(device, NBodyKernel::fast, bodies);
    const auto step = [&] { state.step(256, 1e-4f, 0.02f); };
    for (int i = 0; i < 3; ++i) step();
    const double pairs = double(bodies.size()) * double(bodies.size());
    return queued_ms(device, std::size_t(std::clamp(1e11 / pairs, 2.0, 200.0)), step);
}

double all_gather_ms(compute::Device& device, const Bodies& bodies) {
    const NBodyState state(device, NBodyKernel::fast, bodies);
    state.gather_velocities();
    for (compute::Device* own : experiments::devices_of(device)) own->time_launches(false);
    const double ms = queued_ms(device, 200, [&] { state.gather_velocities(); });
    for (compute::Device* own : experiments::devices_of(device)) own->time_launches(true);
    return ms;
}

}  // namespace

void bench_devices(std::vector<BenchRow>& rows) {
    if (compute::survey_cuda().devices < 2) return;
    const auto one = compute::pick_ranks("cuda:0");
    const auto all = compute::pick_ranks("cuda:all");
    const std::size_t gpus = all->exchange()->ranks();
    const bool bound = gpus == 2 && one->info().name.find("H200") != std::string::npos;
    for (const ScalingGoal& goal : goals) {
        const Bodies bodies = experiments::plummer_sphere(goal.bodies, 1);
        const double alone = step_ms(*one, bodies), together = step_ms(*all, bodies);
        const double gather = all_gather_ms(*all, bodies);
        const double pairs = double(goal.bodies) * double(goal.bodies);
        rows.push_back(
            {.name = fmt::format("devices.{}", goal.bodies),
             .label = fmt::format("n-body {}, fast, {} GPUs : 1, speed", goal.bodies, gpus),
             .value = alone / together,
             .unit = "x",
             .bound = bound ? BenchRow::Bound::at_least : BenchRow::Bound::none,
             .wanted = goal.wanted,
             .note = fmt::format("a step: {:.1f} µs on one, {:.1f} µs on {} ({:.0f} G "
                                 "interactions/s); the all-gather alone: {:.1f} µs; {}",
                                 alone * 1e3, together * 1e3, gpus, pairs / together / 1e6,
                                 gather * 1e3, all->exchange()->words())});
    }
}

}  // namespace warpscope::jobs
