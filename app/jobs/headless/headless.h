#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute/device/device.h"
#include "experiments/copies/running.h"
#include "jobs/headless/check.h"
#include "jobs/headless/counters.h"
#include "jobs/headless/kernel_files.h"
#include "jobs/output/json.h"

namespace warpscope::jobs {

struct HeadlessRequest {
    std::string experiment;
    std::vector<experiments::Assignment> assignments{};
    std::uint64_t frames = 1;
    experiments::Size size{1280, 720};   ///< of the window that there would be
    std::filesystem::path screenshot{};  ///< empty: none
    bool view_only = false;              ///< the picture alone, for a view of `size`
    bool compare = false;
    std::string
        json{};       ///< a file, "-" for standard output (then nothing else goes there), or empty
    Checks checks{};  ///< any: the device is an EmulatedDevice
    bool counters = false;                  ///< so it is then
    std::filesystem::path kernel_source{};  ///< for the experiment's kernel file; empty: none
    std::filesystem::path kernels{};        ///< a folder of kernel files; empty: none
    compute::LaunchLimits limits{.time = std::chrono::seconds(10)};  ///< of kernels from files
};

/// A run whose frames are presented with OpenGL and whose last frame is saved.
struct Shot {
    const experiments::Entry& entry;
    experiments::Running running;
    std::uint64_t frames;
    experiments::Size size;  ///< of the window that there would be
    std::filesystem::path file;
    bool view_only;
};

/// Opens OpenGL, computes and renders the frames as the window does, and writes the PNG whole or
/// not at all. Throws what device, GL and files throw. Made by main: this room cannot see the
/// window's.
using Painter = std::function<Presentation(const Shot&)>;

/// What a run found: everything that the JSON holds.
struct RunResult {
    std::string experiment;
    compute::DeviceInfo device;
    compute::RunSettings settings;
    Json parameters;
    std::uint64_t frames = 0;
    experiments::Report report;
    std::vector<compute::KernelTiming> kernels;
    const compute::Ceilings* ceilings = nullptr;  ///< a GPU's; null where none were measured
    std::optional<compute::GpuState> gpu;         ///< after the frames
    Presentation presentation;
    bool compared = false;                              ///< a comparison was asked for
    std::optional<experiments::Comparison> comparison;  ///< where there is something to compare
    Checks checks;
    std::vector<emulator::Finding> findings;  ///< of the checks
    bool counted = false;                     ///< counters were asked for
    std::vector<emulator::KernelCounters> counters;
    std::vector<KernelFile> kernel_files;  ///< that stand in for the build's
    std::string output;                    ///< what kernels printed with printf()
    std::string stopped;  ///< the error among the findings that ended the run; empty: none did
};

/// Computes and renders the frames, as the window does, and saves the screenshot if one is wanted.
/// OpenGL is opened only for a picture that only OpenGL draws. Throws UsageError for what the
/// request says wrong (then nothing was written), else what device, GL and files throw.
RunResult run_experiment(const std::shared_ptr<compute::Device>& device,
                         const HeadlessRequest& request, const Painter& painter);

Json to_json(const RunResult& result);
/// The same for people: readings with their sentences, kernels with their times.
std::string summary(const RunResult& result);
/// 1 where a reading or a compared variant fails or a check found something, a warning too.
int exit_code(const RunResult& result);

/// Checks the output files, runs, writes JSON and summary, and returns the exit code. Kernels from
/// files are compiled and run by the helper processes, on a device like `device`. The compiler's
/// diagnostics go to standard error; with an error among them the exit code is 2.
int run_headless(compute::Helpers& helpers, std::shared_ptr<compute::Device> device,
                 const HeadlessRequest& request, const Painter& painter);

}  // namespace warpscope::jobs
