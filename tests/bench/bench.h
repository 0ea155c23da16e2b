#pragma once

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "compute/device/device.h"
#include "compute/device/enum_words.h"
#include "compute/helper/helpers.h"

namespace warpscope::bench {

/// The parts of the bench. Each takes less than a minute on two cores, but for the last two, which
/// are measured only where they are named: `fast` takes two minutes, and `window` two for
/// each experiment.
enum class BenchSection { emulator, start, edit, gpu, ladders, devices, frames, fast, window };

using BenchSections = std::set<BenchSection>;

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
    double median_ms = 0, p99_ms = 0;  ///< device time; 0 if device time was not measured

    bool reached() const;
};

/// What the command line asks for.
struct Arguments {
    BenchSections sections;
    std::string device = "auto", json;
    bool help = false;
};

/// Throws jobs::UsageError.
Arguments read_arguments(const std::vector<std::string>& words);
std::string help();

/// Measures these sections, in the order of BenchSection. `progress` receives a line about each
/// section before it starts. The section gpu measures nothing if `device` is the emulator.
std::vector<BenchRow> bench_rows(compute::Helpers& helpers, compute::Device& device,
                                 const BenchSections& sections,
                                 const std::function<void(const std::string&)>& progress);

/// Prints one table, or the JSON if `json` names a file ("-" is standard output). A figure that
/// misses its goal is marked, but is not a failure, because machines differ.
void run_bench(compute::Helpers& helpers, compute::Device& device, const BenchSections& sections,
               const std::string& json);

/// The app, which is measured: beside this program.
std::filesystem::path app();

bool is_gpu(const compute::Device& device);
/// Wall time of one call.
double milliseconds_of(const std::function<void()>& work);
/// The middle value; 0 for an empty vector.
double median(std::vector<double> values);

// The sections.
void bench_emulator(std::vector<BenchRow>& rows);
void bench_start(std::vector<BenchRow>& rows);
/// Edits kernels on a device with this name and kind. Adds no rows if there is no compiler.
void bench_edits(std::vector<BenchRow>& rows, compute::Helpers& helpers,
                 const compute::DeviceInfo& device);
/// The ceilings of a GPU and the launches of every experiment on it.
void bench_gpu(std::vector<BenchRow>& rows, compute::Device& device);
/// Every kernel of the sums and of the n-body at several sizes, the library functions that compute
/// these sums, and a large picture. On the emulator only the smallest sizes are measured.
void bench_ladders(std::vector<BenchRow>& rows, compute::Device& device);
/// Steps of the n-body on all GPUs of this computer, compared with one of them. Adds no rows if
/// there are fewer than two.
void bench_devices(std::vector<BenchRow>& rows);
/// Frames of every experiment with its default parameters on the emulator, and the time that one
/// picture takes from `device` to OpenGL.
void bench_frames(std::vector<BenchRow>& rows, compute::Device& device);
/// What frames, checks and counters cost without each fast path of the emulator.
void bench_fast_paths(std::vector<BenchRow>& rows);
/// Opens the window with each experiment at its most expensive setting, on the emulator, presses
/// widgets at random, and measures the frames per second and the time from a press to its effect on
/// screen. Adds no rows where there is no display.
void bench_window(std::vector<BenchRow>& rows);

}  // namespace warpscope::bench

namespace warpscope::compute {

/// The label says what the section measures.
template <>
inline constexpr std::array words_of<bench::BenchSection>{
    Word<bench::BenchSection>{bench::BenchSection::emulator, "emulator",
                              "the emulator, compared with plain C++ loops and PoCL"},
    Word<bench::BenchSection>{bench::BenchSection::start, "start", "the start of the app"},
    Word<bench::BenchSection>{bench::BenchSection::edit, "edit",
                              "the time from an edit of a kernel to its picture"},
    Word<bench::BenchSection>{bench::BenchSection::gpu, "gpu", "the kernels on the GPU"},
    Word<bench::BenchSection>{
        bench::BenchSection::ladders, "ladders",
        "every kernel of the sums and of the n-body, compared with libraries"},
    Word<bench::BenchSection>{bench::BenchSection::devices, "devices",
                              "the n-body on all GPUs, compared with one"},
    Word<bench::BenchSection>{bench::BenchSection::frames, "frames",
                              "the frames of each experiment, and their transfer to OpenGL"},
    Word<bench::BenchSection>{bench::BenchSection::fast, "fast",
                              "what each fast path of the emulator brings"},
    Word<bench::BenchSection>{bench::BenchSection::window, "window",
                              "the answers of the window while expensive frames are computed"},
};

}  // namespace warpscope::compute
