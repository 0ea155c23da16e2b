#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "experiments/framework/experiment.h"
#include "experiments/measure/launch_times.h"
#include "experiments/measure/wait_for_compiler.h"
#include "jobs/bench/bench.h"

namespace warpscope::jobs {

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

}  // namespace warpscope::jobs
