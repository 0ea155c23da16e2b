#include "bench/bench_emulator.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <tbb/task_arena.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "compute/device/kernel_files.h"
#include "compute/helper/spawn.h"
#include "emulator/counters/access_counters.h"
#include "emulator/counters/heat_map.h"
#include "emulator/launcher.h"
#include "emulator/machine/parallel.h"
#include "emulator/observe/observer_list.h"
#include "emulator/races/grid/grid_races.h"
#include "emulator/races/race_detector.h"
#include "jobs/output/json.h"

extern char** environ;

namespace warpscope::bench {
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

/// How long LLVM compiles built-in kernels. Adds no rows without LLVM.
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

/// The first run wakes this side's threads, while the threads of the other side go to sleep, as
/// they do when many frames follow each other; the second run is measured. In a run of 100 ms the
/// waking does not count.
double steady_milliseconds_of(const std::function<void()>& run) {
    const double first_ms = milliseconds_of(run);
    return first_ms >= 100 ? first_ms : milliseconds_of(run);
}

/// Adds the row of one side, which `name` and `label` say: emulator, plain loop or PoCL.
void add_row(std::vector<BenchRow>& rows, const Measured& kernel, const std::string& name,
             const std::string& label, double ms) {
    BenchRow row{.name = kernel.name + "_" + name,
                 .label = kernel.label + ", " + label,
                 .value = ms,
                 .unit = "ms"};
    row.name += kernel.work > 0 ? "_rate" : "_ms";
    if (kernel.work > 0) {
        row.value = kernel.work / (ms / 1e3);
        row.unit = kernel.unit;
        row.note = fmt::format("{:.4g} ms", ms);
    }
    rows.push_back(std::move(row));
}

using emulator::Execution;

/// Kernels are compiled before their first launch, where LLVM is installed, so that every run
/// measures compiled code.
Execution fastest_execution() {
    return Launcher::can_compile() ? Execution::compiled : Execution::interpreted;
}

}  // namespace

std::unique_ptr<compute::EmulatedDevice> make_emulator(compute::Math math) {
    auto device = compute::make_emulated_device("measured");
    device->set({.math = math});
    return device;
}

Pair measure_pair(const std::function<void()>& first, const std::function<void()>& second) {
    constexpr int warm_ups = 2, most_runs = 15, least_runs = 3;
    constexpr double patience_ms = 5000;
    std::vector<double> a, b;
    double total_ms = 0;
    for (int i = -warm_ups; i < most_runs && (i < least_runs || total_ms < patience_ms); ++i) {
        const double first_ms = steady_milliseconds_of(first);
        const double second_ms = steady_milliseconds_of(second);
        total_ms += first_ms + second_ms;
        if (i < 0) continue;
        a.push_back(first_ms);
        b.push_back(second_ms);
    }
    return {median(std::move(a)), median(std::move(b))};
}

void add_rows(std::vector<BenchRow>& rows, const Measured& kernel, const Pair& pair) {
    add_row(rows, kernel, "emulated", "emulated", pair.first_ms);
    add_row(rows, kernel, "scalar", "plain C++ loop", pair.second_ms);
    const bool times = kernel.work == 0;
    BenchRow ratio{.name = kernel.name + "_ratio",
                   .label = kernel.label + ", emulated : plain, " + (times ? "time" : "speed"),
                   .value = times ? pair.first_ms / pair.second_ms : pair.second_ms / pair.first_ms,
                   .unit = "x",
                   .wanted = kernel.wanted,
                   .note = kernel.note};
    if (kernel.wanted > 0)
        ratio.bound = times ? BenchRow::Bound::at_most : BenchRow::Bound::at_least;
    rows.push_back(std::move(ratio));
}

void add_compiled_row(std::vector<BenchRow>& rows, const Measured& kernel,
                      const std::function<void()>& run) {
    if (Launcher::execution() != Execution::compiled) return;
    const Pair pair = measure_pair(
        [&] {
            Launcher::set_execution(Execution::interpreted);
            run();
            Launcher::set_execution(Execution::compiled);
        },
        run);
    rows.push_back({.name = kernel.name + "_compiled_ratio",
                    .label = kernel.label + ", compiled : interpreted, speed",
                    .value = pair.first_ms / pair.second_ms,
                    .unit = "x"});
}

void add_scaling_rows(std::vector<BenchRow>& rows, const Measured& kernel,
                      const std::function<void()>& run, const std::function<void()>& plain) {
    const unsigned threads = emulator::hardware_threads();
    if (threads == 1) return;
    tbb::task_arena one_thread(1);
    const auto scaling_of = [&](const std::function<void()>& work) {
        const Pair pair = measure_pair([&] { one_thread.execute(work); }, work);
        return pair.first_ms / pair.second_ms;
    };
    const unsigned sms = emulator::Machine::default_virtual_sms;
    // The most virtual SMs of one thread, if threads took whole SMs.
    const unsigned most_sms = (sms + threads - 1) / threads;
    const double plain_scaling = scaling_of(plain);
    const double bound = std::min(double(sms) / most_sms, plain_scaling);
    rows.push_back({.name = kernel.name + "_plain_scaling",
                    .label = fmt::format("{}, plain loop, {} threads : 1", kernel.label, threads),
                    .value = plain_scaling,
                    .unit = "x"});
    rows.push_back({.name = kernel.name + "_scaling",
                    .label = fmt::format("{}, emulated, {} threads : 1", kernel.label, threads),
                    .value = scaling_of(run),
                    .unit = "x",
                    .bound = BenchRow::Bound::at_least,
                    .wanted = 0.85 * bound,
                    .note = fmt::format("0.85 of {:.3g}", bound)});
}

void add_pocl_rows(std::vector<BenchRow>& rows, const Measured& kernel, double emulated_ms,
                   const std::string& pocl_name) {
    const auto times = measure_pocl(pocl_name, pocl_program());
    if (!times) return;
    add_row(rows, kernel, "pocl", "PoCL", times->best_ms());
    rows.back().note =
        fmt::format("{:.4g} ms with default options, {:.4g} ms with -cl-fast-relaxed-math; PoCL {}",
                    times->default_ms, times->relaxed_ms, times->version);
    rows.push_back({.name = kernel.name + "_pocl_ratio",
                    .label = kernel.label + ", emulated : PoCL, speed",
                    .value = times->best_ms() / emulated_ms,
                    .unit = "x",
                    .bound = BenchRow::Bound::at_least,
                    .wanted = 3});
}

void add_observed_rows(std::vector<BenchRow>& rows, compute::EmulatedDevice& device,
                       const Measured& kernel, const std::function<void()>& run,
                       double tracked_goal) {
    const auto observed_run = [&](emulator::ObserverList& observers) {
        const compute::Observing observing(device, observers);
        run();
    };
    emulator::RaceDetector races;
    emulator::GridRaces grid_races;
    emulator::AccessCounters counters;
    emulator::ObserverList tracked;
    tracked.add(races);
    tracked.add(grid_races);
    tracked.add(counters);
    const Pair tracking = measure_pair([&] { observed_run(tracked); }, run);
    if (!races.findings().empty())
        throw std::runtime_error("the race detector reports a race in a kernel without races: " +
                                 races.findings().front().sentence.english());
    const auto add_ratio = [&](const std::string& name, const std::string& label, const Pair& pair,
                               double goal, const std::string& note) {
        rows.push_back({.name = kernel.name + name,
                        .label = kernel.label + label,
                        .value = pair.first_ms / pair.second_ms,
                        .unit = "x",
                        .bound = BenchRow::Bound::at_most,
                        .wanted = goal,
                        .note = note});
    };
    add_ratio("_tracked_ratio", ", tracked : untracked, time", tracking, tracked_goal,
              "races, sectors and bank conflicts");

    emulator::HeatMap heat(device.machine().memory());
    emulator::ObserverList counted, heated;
    counted.add(counters);
    heated.add(counters);
    heated.add(heat);
    const Pair heating =
        measure_pair([&] { observed_run(heated); }, [&] { observed_run(counted); });
    add_ratio("_heat_ratio", ", heat map : counters, time", heating, 2,
              "accesses by word, beside sectors and bank conflicts");
}

void bench_emulator(std::vector<BenchRow>& rows) {
    const Execution before = Launcher::execution();
    if (before == Execution::automatic) Launcher::set_execution(fastest_execution());
    bench_emulated_ripple(rows);
    bench_emulated_nbody(rows);
    bench_emulated_sums(rows);
    bench_compiler(rows);
    Launcher::set_execution(before);
}

namespace {

std::string read_all(int file) {
    std::string text;
    char some[4096];
    for (ssize_t got = 0; (got = ::read(file, some, sizeof(some))) != 0;) {
        if (got > 0)
            text.append(some, std::size_t(got));
        else if (errno != EINTR)
            break;
    }
    return text;
}

/// Standard output of a program that has ended with exit code 0; otherwise empty.
std::string output_of(std::string program, std::string first, std::string second) {
    int ends[2];
    if (program.empty() || ::pipe2(ends, O_CLOEXEC) != 0) return {};
    compute::SpawnFiles files;
    files.give(ends[1], 1);
    char* const arguments[]{program.data(), first.data(), second.data(), nullptr};
    pid_t id = -1;
    const int error = ::posix_spawn(&id, program.c_str(), files.get(), nullptr, arguments, environ);
    ::close(ends[1]);
    std::string text = error ? "" : read_all(ends[0]);
    ::close(ends[0]);
    if (error) return {};
    int status = 0;
    while (::waitpid(id, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? text : "";
}

}  // namespace

std::string pocl_program() {
    std::error_code error;
    const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
    const auto program = self.parent_path() / "warpscope_opencl";
    return std::filesystem::exists(program, error) ? program.string() : "";
}

std::optional<PoclTimes> measure_pocl(const std::string& kernel, const std::string& program) {
    const std::string text =
        output_of(program, kernel, std::to_string(emulator::hardware_threads()));
    const jobs::Json json = jobs::Json::parse(text, nullptr, false);
    try {
        return PoclTimes{json.at("version"), json.at("default_ms"), json.at("relaxed_ms")};
    } catch (const jobs::Json::exception&) {
        return std::nullopt;
    }
}

}  // namespace warpscope::bench
