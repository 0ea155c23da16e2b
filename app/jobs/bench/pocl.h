#pragma once

#include <algorithm>
#include <optional>
#include <string>

namespace warpscope::jobs {

/// PoCL runs OpenCL kernels on a CPU. Only the program of tests/bench/opencl_bench.cpp uses OpenCL;
/// CMake's target bench_comparisons builds it.

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

}  // namespace warpscope::jobs
