#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "compute/emulated/emulated_device.h"
#include "emulator/checks/access_counters.h"
#include "emulator/checks/race_detector.h"
#include "emulator/machine/observer_list.h"
#include "experiments/framework/experiment.h"
#include "experiments/nbody/bodies.h"
#include "experiments/nbody/nbody_state.h"
#include "jobs/bench/bench.h"
#include "jobs/bench/scalar_loops.h"

namespace warpscope::jobs {

namespace {

constexpr int measured_runs = 15;
constexpr int warm_ups = 2;

struct Pair {
    double first_ms;
    double second_ms;
};

/// The second of two runs in a row. The first run wakes this side's threads, while the threads of
/// the other side go to sleep, as they do when many frames follow each other.
double steady_milliseconds_of(const std::function<void()>& run) {
    run();
    return milliseconds_of(run);
}

/// Medians of alternating runs, so that other load on the machine slows both equally.
Pair measure_pair(const std::function<void()>& first, const std::function<void()>& second) {
    std::vector<double> a, b;
    for (int i = -warm_ups; i < measured_runs; ++i) {
        const double first_ms = steady_milliseconds_of(first);
        const double second_ms = steady_milliseconds_of(second);
        if (i < 0) continue;
        a.push_back(first_ms);
        b.push_back(second_ms);
    }
    return {median(a), median(b)};
}

std::unique_ptr<compute::EmulatedDevice> make_emulator(compute::Math math) {
    auto device = compute::make_emulated_device("measured");
    device->set({.math = math});
    return device;
}

/// Time of a run with the race detector and the counters, divided by the time without them.
double tracked_ratio(compute::EmulatedDevice& device, const std::function<void()>& run) {
    emulator::RaceDetector races;
    emulator::AccessCounters counters;
    emulator::ObserverList all;
    all.add(races);
    all.add(counters);
    const Pair pair = measure_pair(
        [&] {
            device.observe(&all);
            run();
            device.observe(nullptr);
        },
        run);
    if (!races.findings().empty())
        throw std::runtime_error("the race detector reports a race in a kernel without races: " +
                                 races.findings().front().sentence);
    return pair.first_ms / pair.second_ms;
}

void bench_ripple(std::vector<BenchRow>& rows) {
    using experiments::Rgba;
    using Pointer = compute::DevicePointer<Rgba>;
    constexpr int size = 1024;
    constexpr unsigned blocks = size / 16;
    const auto device = make_emulator(compute::Math::fast);
    const auto kernel = device->kernel<Pointer, int, int, float, int>("ripple", "ripple_txty");
    compute::Buffer<Rgba> pixels(*device, std::size_t(size) * size);
    std::vector<std::uint8_t> plain(pixels.size() * 4);

    const auto draw = [&] {
        device->launch(kernel, {{blocks, blocks}, {16, 16}}, {.bytes = 4.0 * size * size},
                       pixels.pointer(), size, size, 0.0F, 0);
        device->synchronize();
    };
    const Pair pair = measure_pair(draw, [&] { scalar_ripple(plain, size); });

    const std::vector<Rgba> emulated = pixels.download();
    for (std::size_t i = 0; i < emulated.size(); ++i) {
        // The result of the fast sine may differ from libm's by one shade.
        if (std::abs(emulated[i].g - plain[4 * i + 1]) > 1) {
            throw std::runtime_error(fmt::format(
                "the emulated ripple differs from the plain loop at pixel {}: {} and {}", i,
                emulated[i].g, plain[4 * i + 1]));
        }
    }
    rows.push_back({.name = "ripple_emulated_ms",
                    .label = "ripple 1024², emulated",
                    .value = pair.first_ms,
                    .unit = "ms"});
    rows.push_back({.name = "ripple_frames_per_second",
                    .label = "ripple 1024², emulated",
                    .value = 1000 / pair.first_ms,
                    .unit = "frames/s",
                    .bound = BenchRow::Bound::at_least,
                    .wanted = 100});
    rows.push_back({.name = "ripple_scalar_ms",
                    .label = "ripple 1024², plain C++ loop",
                    .value = pair.second_ms,
                    .unit = "ms"});
    rows.push_back({.name = "ripple_ratio",
                    .label = "ripple, emulated : plain, time",
                    .value = pair.first_ms / pair.second_ms,
                    .unit = "x",
                    .bound = BenchRow::Bound::at_most,
                    .wanted = 2.6,
                    .note = "cos.approx : sinf of an angle from 0 to 2 pi"});
    rows.push_back({.name = "ripple_tracked_ratio",
                    .label = "ripple, tracked : untracked, time",
                    .value = tracked_ratio(*device, draw),
                    .unit = "x",
                    .bound = BenchRow::Bound::at_most,
                    .wanted = 3.0,
                    .note = "races, sectors and bank conflicts"});
}

/// Both results of one step must agree up to rounding errors. Throws if a body differs.
void check_nbody(const experiments::Bodies& emulated, std::span<const Float4> plain) {
    for (std::size_t i = 0; i < plain.size(); ++i) {
        const auto& p = emulated[i].position;
        const double dx = p[0] - plain[i].x, dy = p[1] - plain[i].y, dz = p[2] - plain[i].z;
        const double scale = std::hypot(plain[i].x, plain[i].y, plain[i].z) + 1e-3;
        if (!(std::hypot(dx, dy, dz) <= 1e-4 * scale)) {
            throw std::runtime_error(
                fmt::format("the emulated n-body differs from the plain loop at body {}", i));
        }
    }
}

void bench_nbody(std::vector<BenchRow>& rows) {
    constexpr std::size_t n = 4096;
    constexpr float dt = 1e-3F, eps = 0.05F;
    const auto device = make_emulator(compute::Math::fast);
    const experiments::Bodies start = experiments::plummer_sphere(n, 1);
    std::vector<Float4> position, velocity, new_position(n), new_velocity(n);
    for (const experiments::Body& b : start) {
        position.push_back({b.position[0], b.position[1], b.position[2], b.mass});
        velocity.push_back({b.velocity[0], b.velocity[1], b.velocity[2], 0});
    }
    const auto step = [&](experiments::NBodyState& state) {
        state.step(256, dt, eps);
        device->synchronize();
    };
    experiments::NBodyState once(*device, experiments::NBodyKernel::tiled, start);
    step(once);
    experiments::NBodyState state(*device, experiments::NBodyKernel::tiled, start);
    const Pair pair = measure_pair(
        [&] { step(state); },
        [&] { scalar_nbody(new_position, new_velocity, position, velocity, dt, eps); });
    check_nbody(once.download(), new_position);

    const double giga = double(n) * n / 1e9;
    rows.push_back({.name = "nbody_emulated_rate",
                    .label = "n-body tiled 4096, emulated",
                    .value = giga / (pair.first_ms / 1e3),
                    .unit = "G interactions/s",
                    .note = fmt::format("{:.2f} ms a step", pair.first_ms)});
    rows.push_back({.name = "nbody_scalar_rate",
                    .label = "n-body 4096, plain C++ loop",
                    .value = giga / (pair.second_ms / 1e3),
                    .unit = "G interactions/s",
                    .note = fmt::format("{:.2f} ms a step", pair.second_ms)});
    rows.push_back({.name = "nbody_ratio",
                    .label = "n-body, emulated : plain, speed",
                    .value = pair.second_ms / pair.first_ms,
                    .unit = "x",
                    .bound = BenchRow::Bound::at_least,
                    .wanted = 1.0});
    rows.push_back({.name = "nbody_tracked_ratio",
                    .label = "n-body, tracked : untracked, time",
                    .value = tracked_ratio(*device, [&] { step(state); }),
                    .unit = "x",
                    .bound = BenchRow::Bound::at_most,
                    .wanted = 1.4,
                    .note = "races, sectors and bank conflicts"});
}

}  // namespace

void bench_emulator(std::vector<BenchRow>& rows) {
    bench_ripple(rows);
    bench_nbody(rows);
}

}  // namespace warpscope::jobs
