#include <fmt/format.h>

#include <algorithm>

#include "compute/device/kernel_images.h"
#include "emulator/launcher.h"
#include "jobs/bench/emulator_rows.h"

namespace warpscope::jobs {

namespace {

using emulator::Launcher;

struct Compiled {
    std::string kernel;
    double ms;
};

/// Median times of the compilation of every kernel of a file, as a launch with --emulator auto has
/// them compiled.
void compile_file(std::vector<Compiled>& times, const std::string& file) {
    constexpr int repetitions = 5;
    const auto module = emulator::Module::parse(compute::kernel_ptx(file, compute::Math::precise),
                                                "kernels/" + file + ".cu");
    for (const auto& kernel : module->kernels()) {
        std::vector<double> all;
        for (int k = 0; k < repetitions; ++k)
            all.push_back(milliseconds_of([&] { Launcher::compile(*kernel); }));
        times.push_back({kernel->name, median(std::move(all))});
    }
}

}  // namespace

void bench_compiler(std::vector<BenchRow>& rows) {
    if (!Launcher::can_compile()) return;
    std::vector<Compiled> times;
    for (const char* file : {"ripple", "ripple_layouts", "nbody", "nbody_ladder", "nbody_async",
                             "nbody_bulk", "dot", "dot_ladder", "reduce", "reduce_ladder", "splat",
                             "gallery/blur", "gallery/life", "gallery/transpose"})
        compile_file(times, file);
    constexpr double goal_ms = 80;
    const auto slowest = std::ranges::max_element(times, {}, &Compiled::ms);
    std::vector<double> all;
    for (const Compiled& kernel : times) all.push_back(kernel.ms);
    const auto below = std::ranges::count_if(all, [](double ms) { return ms <= goal_ms; });
    const auto add = [&](const char* name, const char* label, double ms, const std::string& note) {
        rows.push_back({.name = name,
                        .label = label,
                        .value = ms,
                        .unit = "ms",
                        .bound = BenchRow::Bound::at_most,
                        .wanted = goal_ms,
                        .note = note});
    };
    add("compiled_kernel_ms", "a kernel compiled, median of all kernels", median(all),
        fmt::format("{} of {} kernels take at most {} ms", below, all.size(), goal_ms));
    add("slowest_compiled_kernel_ms", "a kernel compiled, the slowest one", slowest->ms,
        slowest->kernel);
}

}  // namespace warpscope::jobs
