#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "bench/bench.h"
#include "compute/ceilings.h"
#include "compute/cuda/survey.h"
#include "compute/pick_device.h"
#include "experiments/framework/experiment.h"
#include "experiments/measure/compared_kernels.h"
#include "experiments/nbody/nbody_state.h"

namespace warpscope::bench {
namespace {

constexpr int measured_frames = 60;

void add_ceilings(std::vector<BenchRow>& rows, const compute::Ceilings& c) {
    const std::string clocks = c.gpu ? compute::words(*c.gpu) : "";
    rows.push_back({.name = "ceiling.copy",
                    .label = "ceiling: bytes copied",
                    .value = c.bytes_per_second / 1e9,
                    .unit = "GB/s"});
    rows.push_back({.name = "ceiling.read",
                    .label = "ceiling: bytes read",
                    .value = c.read_bytes_per_second / 1e9,
                    .unit = "GB/s"});
    rows.push_back({.name = "ceiling.fp32",
                    .label = "ceiling: FP32",
                    .value = c.flops_per_second / 1e12,
                    .unit = "Tflop/s",
                    .note = clocks});
    rows.push_back(
        {.name = "empty_kernel",
         .label = "an empty kernel, alone",
         .value = c.lone_launch_ms * 1e3,
         .unit = "µs",
         .note = fmt::format("{:.2f} µs in a queue of launches", c.queued_launch_ms * 1e3)});
}

void add_timing(std::vector<BenchRow>& rows, const std::string& experiment,
                const compute::KernelTiming& kernel, const compute::Ceilings& ceilings) {
    std::string note;
    if (kernel.interactions_per_second() > 0) {
        note = fmt::format("{:.4g} G interactions/s", kernel.interactions_per_second() / 1e9);
    } else if (kernel.bytes_per_second() > 0) {
        note = fmt::format("{:.4g} GB/s", kernel.bytes_per_second() / 1e9);
    }
    const compute::CeilingShares shares = compute::shares_of(kernel, ceilings);
    if (shares.larger() > 0)
        note += fmt::format(", {:.0f} % of the {}", 100 * shares.larger(), shares.larger_name());
    const std::string care = compute::timing_note(kernel, &ceilings);
    if (!care.empty()) note += note.empty() ? care : ". " + care;
    rows.push_back({.name = experiment + "." + kernel.name,
                    .label = fmt::format("{}, {}", experiment, kernel.name),
                    .value = kernel.median_ms() * 1e3,
                    .unit = "µs",
                    .note = note});
}

void add_comparison(std::vector<BenchRow>& rows, const std::string& experiment,
                    const experiments::Comparison& comparison) {
    for (const auto& row : comparison.rows) {
        rows.push_back({.name = experiment + ".compare." + row.id,
                        .label = fmt::format("{}, {}", experiment, row.label),
                        .value = row.rate / 1e9,
                        .unit = "G" + comparison.rate_unit,
                        .note = fmt::format("{:.4f} ms, error {:.2g}", row.median_ms, row.error)});
    }
}

}  // namespace

void bench_gpu(std::vector<BenchRow>& rows, compute::Device& device) {
    const compute::Ceilings& ceilings = compute::measure_ceilings(device);
    add_ceilings(rows, ceilings);
    for (const experiments::Entry& entry : experiments::registry()) {
        const auto experiment = entry.make(device);
        const experiments::Size size = experiment->picture_size({1280, 720});
        const std::size_t pixels = std::size_t(size.width) * size.height;
        compute::Buffer<experiments::Rgba> target(device, pixels);
        device.synchronize();
        device.timings().clear();
        for (int i = 0; i < measured_frames; ++i) {
            experiment->step();
            if (pixels) experiment->render_into({target.pointer(), size});
        }
        device.synchronize();
        for (const auto& kernel : device.timings().kernels())
            add_timing(rows, entry.id, kernel, ceilings);
        // bench_ladders compares the kernels of these experiments at several sizes.
        if (entry.id == "dot" || entry.id == "reduction") continue;
        if (const auto comparison = experiment->compare())
            add_comparison(rows, entry.id, *comparison);
    }
}

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

namespace {

using experiments::Assignment;
using experiments::Comparison;

/// The goal for an H200: the kernel's rate divided by the library's.
struct WantedRatio {
    std::string_view kernel, library;
    double ratio;
};

/// One comparison of sums: of n floats, or of n products of two floats.
struct Sums {
    std::string_view experiment;
    std::int64_t n;
    std::string_view n_text;
    std::string_view block;  ///< threads in a block
    WantedRatio wanted;      ///< ratio 0: no goal
};

constexpr Sums gpu_sums[] = {
    {"reduction", 1 << 28, "2^28", "512", {"single_pass", "cub", 1.01}},
    {"reduction", 1 << 24, "2^24", "256", {"single_pass", "cub", 1.15}},
    {"reduction", 1 << 20, "2^20", "256", {"single_pass", "cub", 0}},
    {"reduction", 33 * 1024, "33*1024", "256", {"single_pass", "cub", 0}},
    {"dot", 1 << 28, "2^28", "512", {"single_pass", "cublas", 1.03}},
    {"dot", 1 << 24, "2^24", "512", {"single_pass", "cublas", 1.1}},
    {"dot", 1 << 20, "2^20", "256", {"single_pass", "cublas", 0}},
    {"dot", 33 * 1024, "33*1024", "256", {"single_pass", "cublas", 0}},
};
constexpr Sums emulator_sums[] = {
    {"reduction", 1 << 20, "2^20", "256", {}},
    {"reduction", 33 * 1024, "33*1024", "256", {}},
    {"dot", 1 << 20, "2^20", "256", {}},
    {"dot", 33 * 1024, "33*1024", "256", {}},
};

/// The goal for an H200 with the kernel `fast`, in G interactions/s; 0: no goal.
struct Gravity {
    int bodies;
    double wanted;
};
constexpr Gravity gpu_gravity[] = {{4096, 860}, {16384, 1850}, {65536, 2100}, {262144, 2200}};
constexpr Gravity emulator_gravity[] = {{4096, 0}};

/// The goals were set for this GPU; other GPUs have none.
bool is_h200(const compute::Device& device) {
    return device.info().name.find("H200") != std::string::npos;
}

std::string on(const compute::Device& device) {
    return is_gpu(device) ? "" : ", emulated";
}

std::string times_note(double median_ms, double p99_ms) {
    return fmt::format("{:.2f} µs, 99 % within {:.2f} µs", median_ms * 1e3, p99_ms * 1e3);
}

/// ", 1.014 times CUB" if the comparison has a row of a library; otherwise empty.
std::string beside_library(const Comparison& comparison, const Comparison::Row& row) {
    for (const Comparison::Row& other : comparison.rows)
        if ((other.id == "cub" || other.id == "cublas") && other.id != row.id && other.rate > 0)
            return fmt::format(", {:.3f} times {}", row.rate / other.rate, other.label);
    return {};
}

void add_ratio(std::vector<BenchRow>& rows, const compute::Device& device, const Sums& sums,
               const Comparison& comparison) {
    const auto rate_of = [&](std::string_view id) {
        const auto row = std::ranges::find(comparison.rows, id, &Comparison::Row::id);
        return row == comparison.rows.end() ? 0.0 : row->rate;
    };
    const WantedRatio& wanted = sums.wanted;
    const double library = rate_of(wanted.library);
    if (wanted.library.empty() || library <= 0) return;
    const bool bound = wanted.ratio > 0 && is_h200(device);
    rows.push_back({.name = fmt::format("{}.{}.ratio", sums.experiment, sums.n),
                    .label = fmt::format("{} {}, {} : {}, speed", sums.experiment, sums.n_text,
                                         wanted.kernel, wanted.library),
                    .value = rate_of(wanted.kernel) / library,
                    .unit = "x",
                    .bound = bound ? BenchRow::Bound::at_least : BenchRow::Bound::none,
                    .wanted = wanted.ratio});
}

void bench_sums(std::vector<BenchRow>& rows, compute::Device& device, const Sums& sums) {
    const auto experiment = experiments::find_experiment(sums.experiment).make(device);
    const std::vector<Assignment> settings{{"n", std::to_string(sums.n)},
                                           {"block", std::string(sums.block)}};
    experiment->set(settings);
    const auto comparison = experiment->compare();
    if (!comparison) return;
    for (const Comparison::Row& row : comparison->rows) {
        BenchRow bench{
            .name = fmt::format("{}.{}.{}{}", sums.experiment, sums.n, row.id,
                                is_gpu(device) ? "" : ".emulated"),
            .label = fmt::format("{} {}, {}{}", sums.experiment, sums.n_text, row.id, on(device)),
            .value = row.rate / 1e9,
            .unit = "GB/s",
            .note = times_note(row.median_ms, row.p99_ms) + beside_library(*comparison, row) +
                    fmt::format(", error {:.2g}", row.error)};
        bench.median_ms = row.median_ms;
        bench.p99_ms = row.p99_ms;
        if (row.verdict == experiments::Verdict::fail) bench.note += ", WRONG";
        rows.push_back(std::move(bench));
    }
    add_ratio(rows, device, sums, *comparison);
}

/// Times whole steps, from before the first kernel until after the last.
void bench_gravity(std::vector<BenchRow>& rows, compute::Device& device, const Gravity& size) {
    const experiments::WaitForCompiler wait(device);
    const auto experiment = experiments::find_experiment("nbody").make(device);
    const double pairs = double(size.bodies) * size.bodies;
    experiment->set(std::vector<Assignment>{{"bodies", std::to_string(size.bodies)}});
    const auto& kernels =
        dynamic_cast<experiments::Choice&>(experiment->parameters().find("kernel")).words();
    for (const experiments::Choice::Word& kernel : kernels) {
        experiment->set(std::vector<Assignment>{{"kernel", kernel.id}});
        const std::string name =
            fmt::format("nbody.{}.{}{}", size.bodies, kernel.id, is_gpu(device) ? "" : ".emulated");
        const auto step = [&] {
            device.time_as(name, {.interactions = pairs}, [&] { experiment->step(); });
        };
        // The first step also loads the kernels. Steps read and write two sets of buffers in turn,
        // so the third and the fourth are the first launches that come again, which the emulator
        // may rehearse: see WarpIndependence.
        for (int i = 0; i < 4; ++i) step();
        const std::size_t steps =
            experiments::launches_worth(device, experiments::newest_median_ms(device, name, 1));
        for (std::size_t i = 0; i < steps; ++i) step();
        BenchRow row{.name = name,
                     .label = fmt::format("n-body {}, {}{}", size.bodies, kernel.id, on(device)),
                     .unit = "G interactions/s"};
        row.median_ms = experiments::newest_median_ms(device, name, steps);
        row.p99_ms = experiments::newest_quantile_ms(device, name, steps, 0.99);
        row.value = row.median_ms > 0 ? pairs / row.median_ms / 1e6 : 0;
        row.note = times_note(row.median_ms, row.p99_ms) + " a step";
        if (kernel.id == "fast" && size.wanted > 0 && is_h200(device)) {
            row.bound = BenchRow::Bound::at_least;
            row.wanted = size.wanted;
        }
        rows.push_back(std::move(row));
    }
}

void bench_picture(std::vector<BenchRow>& rows, compute::Device& device) {
    constexpr experiments::Size size{1920, 1080};
    const auto experiment = experiments::find_experiment("nbody").make(device);
    experiment->set(std::vector<Assignment>{{"bodies", "1000000"}, {"kernel", "fast"}});
    compute::Buffer<experiments::Rgba> pixels(device, std::size_t(size.width) * size.height);
    const std::string name = "picture.1000000";
    const auto draw = [&] {
        device.time_as(name, {}, [&] { experiment->render_into({pixels.pointer(), size}); });
    };
    draw();
    for (std::size_t i = 0; i < experiments::most_launches; ++i) draw();
    BenchRow row{.name = name, .label = "a picture of 1 000 000 bodies, 1920x1080", .unit = "ms"};
    row.median_ms = experiments::newest_median_ms(device, name, experiments::most_launches);
    row.p99_ms = experiments::newest_quantile_ms(device, name, experiments::most_launches, 0.99);
    row.value = row.median_ms;
    row.note = times_note(row.median_ms, row.p99_ms) + ": light cleared, splatted, tone-mapped";
    if (is_h200(device)) {
        row.bound = BenchRow::Bound::at_most;
        row.wanted = 2;
    }
    rows.push_back(std::move(row));
}

}  // namespace

void bench_ladders(std::vector<BenchRow>& rows, compute::Device& device) {
    const auto gpu = is_gpu(device);
    for (const Sums& sums : gpu ? std::span<const Sums>(gpu_sums) : emulator_sums) {
        const double bytes = (sums.experiment == "dot" ? 8.0 : 4.0) * double(sums.n);
        if (2 * bytes <= double(device.info().memory_bytes)) bench_sums(rows, device, sums);
    }
    for (const Gravity& size : gpu ? std::span<const Gravity>(gpu_gravity) : emulator_gravity)
        bench_gravity(rows, device, size);
    if (gpu) bench_picture(rows, device);
}

}  // namespace warpscope::bench
