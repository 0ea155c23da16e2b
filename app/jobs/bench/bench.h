#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compute/device/device.h"
#include "compute/helper/helpers.h"
#include "jobs/output/json.h"

namespace warpscope::jobs {

/// One measured figure.
struct BenchRow {
    enum class Bound { none, at_most, at_least };

    std::string name;   ///< for scripts: "ripple_ratio"
    std::string label;  ///< for people
    double value = 0;
    std::string unit;
    Bound bound = Bound::none;
    double wanted = 0;
    std::string note{};
    double median_ms = 0, p99_ms = 0;  ///< of device time; 0 where that isn't what was measured

    bool reached() const;
};

/// Measures the emulator against plain loops, the start of the app, how soon an edited kernel is on
/// show and, where `device` is a GPU, its kernels, libraries' beside them, and what a frame costs
/// between CUDA and OpenGL. Takes under two minutes.
/// `progress` is told what comes next.
std::vector<BenchRow> run_bench_rows(compute::Helpers& helpers, compute::Device& device,
                                     const std::function<void(const std::string&)>& progress);

/// --bench: prints one table, or the JSON where `json` names a file ("-" is standard output).
/// A figure that misses what is wanted is marked, and no failure: machines differ.
int run_bench(compute::Helpers& helpers, compute::Device& device, const std::string& json);

/// Milliseconds of one call.
double milliseconds_of(const std::function<void()>& work);
/// The middle value; 0 for none.
double median(std::vector<double> values);

// The parts, each in its own file.
void bench_emulator(std::vector<BenchRow>& rows);
void bench_start(std::vector<BenchRow>& rows);
/// Kernels edited on a device like this one; no rows where there is no compiler.
void bench_edits(std::vector<BenchRow>& rows, compute::Helpers& helpers,
                 const compute::DeviceInfo& device);
void bench_kernels(std::vector<BenchRow>& rows, compute::Device& device);
/// Every kernel of the sums and of the n-body at several sizes, libraries' beside them; and a large
/// picture. On the emulator the smallest sizes.
void bench_ladders(std::vector<BenchRow>& rows, compute::Device& device);
void bench_presentation(std::vector<BenchRow>& rows, compute::Device& device);

}  // namespace warpscope::jobs
