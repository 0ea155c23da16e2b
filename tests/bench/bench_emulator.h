#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/bench.h"
#include "compute/emulated/emulated_device.h"

namespace warpscope::bench {

// Parts of the section emulator:
void bench_emulated_ripple(std::vector<BenchRow>& rows);
void bench_emulated_nbody(std::vector<BenchRow>& rows);
void bench_emulated_sums(std::vector<BenchRow>& rows);

std::unique_ptr<compute::EmulatedDevice> make_emulator(compute::Math math);

/// Median times of two computations.
struct Pair {
    double first_ms = 0;
    double second_ms = 0;
};

/// Measures alternating runs, so that other load on the machine slows both equally: 15 of each, or
/// fewer where all runs take more than 5 s, but at least 3.
Pair measure_pair(const std::function<void()>& first, const std::function<void()>& second);

/// A kernel with one launch configuration, as its rows call it.
struct Measured {
    std::string name;    ///< "nbody": its rows are nbody_emulated_rate and so on
    std::string label;   ///< "n-body tiled 4096, fast math"
    double work = 0;     ///< the work of one run, in `unit` * s; 0: the rows have times in ms
    std::string unit{};  ///< such as "GB/s"
    double wanted = 0;   ///< goal of emulated : plain, a ratio of times or of speeds; 0: none
    std::string note{};  ///< explains that ratio
};

/// Adds rows of the emulator (first) and of the plain loop (second), and their ratio.
void add_rows(std::vector<BenchRow>& rows, const Measured& kernel, const Pair& pair);
/// Adds the speed of compiled code relative to the interpreter's. Adds nothing without LLVM.
void add_compiled_row(std::vector<BenchRow>& rows, const Measured& kernel,
                      const std::function<void()>& run);
/// Adds the speed on all threads relative to one thread, of the emulator (`run`) and of the plain
/// loop. The emulator shall scale to 0.85 of what the plain loop does, or of what its virtual SMs
/// allow, whose blocks stay on one thread. Adds nothing where there is one thread.
void add_scaling_rows(std::vector<BenchRow>& rows, const Measured& kernel,
                      const std::function<void()>& run, const std::function<void()>& plain);
/// Adds rows of PoCL, which calls the kernel `pocl_name`, and of the emulator's speed relative to
/// it. Adds none where PoCL can't be measured.
void add_pocl_rows(std::vector<BenchRow>& rows, const Measured& kernel, double emulated_ms,
                   const std::string& pocl_name);
/// Adds the time of a run with the race detectors and the counters, divided by the time of a run
/// without observers, where `tracked_goal` is the most wanted; and the time of a run with counters
/// and heat map, divided by the time of a run with counters. Throws if the race detector finds a
/// race.
void add_observed_rows(std::vector<BenchRow>& rows, compute::EmulatedDevice& device,
                       const Measured& kernel, const std::function<void()>& run,
                       double tracked_goal);

/// PoCL runs OpenCL kernels on a CPU. Only the program of tests/bench/opencl_bench.cpp uses OpenCL;
/// CMake's target warpscope_bench builds it.

/// Median times of a launch, with PoCL's default build options and with -cl-fast-relaxed-math.
struct PoclTimes {
    std::string version;  ///< "3.1+debian"
    double default_ms = 0, relaxed_ms = 0;

    double best_ms() const { return std::min(default_ms, relaxed_ms); }
};

/// Path of that program: beside this one. Empty if it was not built.
std::string pocl_program();

/// Times of a kernel ("ripple", "nbody" or "dot") on as many threads as the emulator uses. nullopt
/// if the program can't be started, or fails; it then says on standard error why.
std::optional<PoclTimes> measure_pocl(const std::string& kernel, const std::string& program);

}  // namespace warpscope::bench
