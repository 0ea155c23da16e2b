#include <fmt/format.h>

#include "compute/ceiling_shares.h"
#include "experiments/framework/experiment.h"
#include "jobs/bench/bench.h"

namespace warpscope::jobs {

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

}  // namespace warpscope::jobs
