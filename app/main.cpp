#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <new>

#include "bench_window.h"
#include "compute/device/device.h"
#include "compute/emulated/emulated_device.h"
#include "compute/helper/helpers.h"
#include "compute/helper/termination_signal.h"
#include "compute/pick_ranks.h"
#include "experiments/bodies/bodies_file.h"
#include "experiments/launch/open_launch.h"
#include "experiments/nbody/nbody_order.h"
#include "jobs/bench/bench.h"
#include "jobs/headless/headless.h"
#include "jobs/headless/interruption.h"
#include "jobs/headless/kernel_files.h"
#include "jobs/helper.h"
#include "jobs/list.h"
#include "jobs/output/output.h"
#include "options.h"
#include "ui/window/layout.h"
#include "ui/window/screenshot.h"
#include "ui/window/window.h"

namespace warpscope {
namespace {

/// Prints the message as one line on standard error, even if it has newlines. Returns `code`.
int complain(std::string text, int code) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    jobs::print_error(fmt::format("warpscope: {}\n", text));
    return code;
}

using SharedProcesses = std::shared_ptr<compute::Processes>;

std::unique_ptr<compute::Device> make_device(const Options& options,
                                             const SharedProcesses& processes = nullptr) {
    if (options.checks.any() || options.counters) {
        auto device = compute::make_emulated_device(
            fmt::format("{} needs the emulator", options.checks.any() ? "--check" : "--counters"));
        device->set(options.run);
        return device;
    }
    try {
        auto device = compute::pick_ranks(options.device, processes);
        device->set(options.run);
        return device;
    } catch (const std::invalid_argument& e) {
        throw jobs::UsageError(fmt::format("--device {}: {}", options.device, e.what()));
    }
}

jobs::HeadlessRequest headless_request(const Options& options) {
    jobs::HeadlessRequest request{.experiment = options.experiment, .frames = options.frames};
    const auto assignments = options.assignments.find(options.experiment);
    if (assignments != options.assignments.end()) request.assignments = assignments->second;
    if (options.size) request.size = *options.size;
    request.screenshot = options.screenshot;
    request.view_only = options.view_only;
    request.compare = options.compare;
    request.force = options.force;
    request.json = options.json;
    request.checkpoint = options.checkpoint;
    request.every = options.every;
    request.resume = options.resume;
    request.checks = options.checks;
    request.sarif = options.sarif;
    request.counters = options.counters;
    request.lines = options.lines;
    request.heat = options.heat;
    request.kernel_source = options.kernel_source;
    request.kernels = options.kernels;
    request.launch = options.launch;
    return request;
}

std::optional<ui::MicroscopePlace> microscope_place(const Options& options) {
    if (options.microscope.empty()) return {};
    const auto place = ui::read_place(options.microscope);
    if (place) return place;
    throw jobs::UsageError(fmt::format(
        "--microscope {}: write a block and a step, e.g. 12,7 or 12,7@214", options.microscope));
}

jobs::Painter painter(const std::optional<ui::MicroscopePlace>& microscope) {
    return [microscope](const jobs::Shot& shot) -> jobs::Presentation {
        auto [path, reason] =
            ui::save_offscreen(shot.entry, shot.running, shot.frames,
                               {shot.size, shot.view_only, microscope}, shot.file);
        return {std::move(path), std::move(reason)};
    };
}

int run_window(const Options& options, compute::Helpers& helpers) {
    jobs::check_kernel_files(options.kernel_source, options.kernels);
    if (!options.launch.empty()) experiments::find_launch_file(options.launch);
    if (options.reset_settings) ui::save_settings(ui::settings_file(), {});
    ui::WindowOptions window;
    window.helpers = &helpers;
    window.kernel_source = options.kernel_source;
    window.kernels = options.kernels;
    window.launch = options.launch;
    if (options.device_given) window.device = options.device;
    if (options.run_given) window.run = options.run;
    window.experiment = options.experiment;
    window.assignments = options.assignments;
    window.size = options.size;
    window.vsync = options.vsync;
    window.microscope = microscope_place(options);
    window.widget_map = options.widget_map;
    return ui::run_window(window);
}

/// Throws UsageError if mpirun has started several processes for what only one can do.
void check_processes(const Options& options) {
    const bool headless = options.mode == Mode::headless && !options.checks.any() &&
                          !options.counters && options.kernel_source.empty() &&
                          options.kernels.empty();
    if (headless || compute::place_of_process().count == 1) return;
    throw jobs::UsageError(
        "mpirun has started several processes, which share the bodies of --headless --experiment "
        "nbody: leave out the other options, or start one process");
}

/// For a process of mpirun that rank 0 leads. An error ends all of them.
int follow(compute::Processes& processes, const Options& options, const SharedProcesses& shared) {
    try {
        experiments::follow_nbody(*make_device(options, shared));
        return 0;
    } catch (const std::exception& e) {
        processes.fail(e.what());
        return 1;
    }
}

int run_headless(compute::Helpers& helpers, const Options& options) {
    const auto say_fault = [](const std::string& fault) { complain(fault, 1); };
    const SharedProcesses processes = compute::join_processes(say_fault);
    if (processes && processes->index() > 0) return follow(*processes, options, processes);
    const std::shared_ptr<compute::Device> device = make_device(options, processes);
    try {
        return jobs::run_headless(helpers, device, headless_request(options),
                                  painter(microscope_place(options)));
    } catch (const compute::DeviceError& e) {
        if (!processes) throw;
        complain(e.what(), 1);
        processes->end_all(1);
        return 1;
    } catch (const std::invalid_argument& e) {
        if (!processes) throw;
        // While `processes` exist: mpirun can lose what is written right before the end.
        return complain(e.what(), 2);
    }
}

int run(const Options& options) {
    if (options.mode == Mode::helper) return jobs::run_helper(options.helper_socket);
    check_processes(options);
    emulator::KernelCompiler::set_execution(options.execution);
    compute::Helpers helpers("/proc/self/exe");
    switch (options.mode) {
        case Mode::list:
            return jobs::run_list(options.json);
        case Mode::bench:
            return jobs::run_bench(helpers, *make_device(options), options.bench, bench_window,
                                   options.json);
        case Mode::headless:
            return run_headless(helpers, options);
        case Mode::helper:
        case Mode::window:
            break;
    }
    return run_window(options, helpers);
}

/// Opens /dev/null for standard files that the caller closed. Otherwise the next file that the app
/// opens would take their number and receive what is printed. Writing to them still fails.
void reserve_standard_files() {
    for (int fd = 0; fd <= 2; ++fd) {
        if (::fcntl(fd, F_GETFD) < 0) ::open("/dev/null", O_RDONLY);
    }
}

int say(const std::string& text) {
    try {
        jobs::print(text);
        return 0;
    } catch (const std::bad_alloc&) {
        return complain("there is not enough memory; close other programs or raise its limit", 1);
    } catch (const std::exception& e) {
        return complain(e.what(), 1);
    }
}

/// Does what the command line asks for. Returns the exit code.
int answer(int argc, char** argv) {
    try {
        return run(parse_options(argc, argv));
    } catch (const Answer& answer) {
        return say(answer.text);
    } catch (const jobs::Interrupted& interrupted) {
        compute::end_by(interrupted.signal);
    } catch (const std::invalid_argument& e) {
        // Rank 0 of mpirun says it for all, and its exit code is that of all. If this process ended
        // with an error, mpirun could end rank 0 before it has said it.
        if (compute::place_of_process().index > 0) return 0;
        // The caller named a parameter, an experiment or a path that cannot be used.
        return complain(e.what(), 2);
    } catch (const experiments::BodiesFileError& e) {
        return complain(e.what(), 2);
    } catch (const std::exception& e) {
        return complain(e.what(), 1);
    }
}

}  // namespace
}  // namespace warpscope

int main(int argc, char** argv) {
    using namespace warpscope;
    reserve_standard_files();
    // A file that would grow beyond the limit of the process is an error of its write().
    std::signal(SIGXFSZ, SIG_IGN);
    const auto compiler = emulator::KernelCompiler::shared();
    const int code = answer(argc, argv);
    // Nobody needs the kernel any more that is being compiled, which can take seconds. LLVM must
    // not be unloaded below its thread, so that the process ends without destructors.
    if (compiler->is_compiling()) {
        std::fflush(nullptr);
        std::quick_exit(code);
    }
    return code;
}
