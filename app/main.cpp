#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <new>
#include <utility>

#include "bench_window.h"
#include "compute/device/device.h"
#include "compute/emulated/emulated_device.h"
#include "compute/helper/helpers.h"
#include "compute/helper/termination_signal.h"
#include "compute/pick_ranks.h"
#include "compute/ranks/follow.h"
#include "experiments/bodies/bodies_file.h"
#include "experiments/copies/pick_for.h"
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

/// The device of the experiment: with all ranks if it can use them.
std::unique_ptr<compute::Device> pick(const Options& options, const SharedProcesses& processes) {
    for (const experiments::Entry& entry : experiments::registry())
        if (entry.id == options.experiment)
            return experiments::pick_for(entry, options.device, processes);
    return compute::pick_first(options.device);
}

std::unique_ptr<compute::Device> make_device(const Options& options,
                                             const SharedProcesses& processes = nullptr) {
    if (options.checks.any() || options.counters) {
        auto device = compute::make_emulated_device(
            fmt::format("{} needs the emulator", options.checks.any() ? "--check" : "--counters"));
        device->set(options.run);
        return device;
    }
    try {
        auto device = pick(options, processes);
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

int run_window(const Options& options, compute::Helpers& helpers,
               const SharedProcesses& processes) {
    jobs::check_kernel_files(options.kernel_source, options.kernels);
    if (!options.launch.empty()) experiments::find_launch_file(options.launch);
    if (options.reset_settings) ui::save_settings(ui::settings_file(), {});
    ui::WindowOptions window;
    window.helpers = &helpers;
    window.pick = [processes](const std::string& wish, const experiments::Entry& entry) {
        return experiments::pick_for(entry, wish, processes);
    };
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
    const int signal = ui::run_window(window);
    // mpirun would take the end by a signal for a failure.
    if (signal && !processes) compute::end_by(signal);
    return 0;
}

/// Throws UsageError if mpirun has started several processes for what only one can do.
void check_processes(const Options& options) {
    const bool headless = options.mode == Mode::headless && !options.checks.any() &&
                          !options.counters && options.kernel_source.empty() &&
                          options.kernels.empty();
    const bool shared = headless || options.mode == Mode::window;
    if (shared || compute::place_of_process().count == 1) return;
    throw jobs::UsageError(
        "mpirun has started several processes, which share the bodies of the n-body in the window "
        "or with --headless: leave out the other options, or start one process");
}

/// Errors that the caller can mend: a parameter, an experiment, a path or a file.
bool is_of_caller(const std::exception& e) {
    return dynamic_cast<const std::invalid_argument*>(&e) ||
           dynamic_cast<const experiments::BodiesFileError*>(&e);
}

/// In a process that process 0 leads. An error ends all of them.
int follow(const Options& options, const SharedProcesses& processes) {
    // mpirun can start processes with options of their own, so the first wish is in those.
    std::string own = options.device_given ? options.device : "";
    const auto open = [&](const std::string& told, std::uint32_t exchange) {
        const std::string first = std::exchange(own, "");
        return compute::follow_ranks(first.empty() ? told : first, processes, exchange);
    };
    try {
        compute::follow(*processes, open, experiments::make_nbody_follower);
        return 0;
    } catch (const std::exception& e) {
        processes->fail(e.what());
        return 1;
    }
}

/// Calls `work` and then ends the other processes of mpirun, if there are any.
int lead(const SharedProcesses& processes, const std::function<int()>& work) {
    if (!processes) return work();
    const auto end_others = [&] { compute::tell(*processes, {compute::Call::Task::end}); };
    try {
        const int code = work();
        end_others();
        return code;
    } catch (const compute::DeviceError& e) {
        // The others may wait for something else.
        complain(e.what(), 1);
        processes->end_all(1);
        return 1;
    } catch (const std::exception& e) {
        // While `processes` exist: mpirun can lose what is written right before the end.
        complain(e.what(), 1);
        end_others();
        return is_of_caller(e) ? 2 : 1;
    } catch (const jobs::Interrupted&) {
        end_others();
        throw;
    }
}

int run_headless(compute::Helpers& helpers, const Options& options,
                 const SharedProcesses& processes) {
    return jobs::run_headless(helpers, make_device(options, processes), headless_request(options),
                              painter(microscope_place(options)));
}

/// Runs what computes with all processes of mpirun.
int run_together(const Options& options) {
    const auto say_fault = [](const std::string& fault) { complain(fault, 1); };
    const SharedProcesses processes = compute::join_processes(say_fault);
    if (processes && processes->index() > 0) return follow(options, processes);
    compute::Helpers helpers("/proc/self/exe");
    return lead(processes, [&] {
        return options.mode == Mode::window ? run_window(options, helpers, processes)
                                            : run_headless(helpers, options, processes);
    });
}

int run(const Options& options) {
    if (options.mode == Mode::helper) return jobs::run_helper(options.helper_socket);
    check_processes(options);
    emulator::KernelCompiler::set_execution(options.execution);
    if (options.mode == Mode::list) return jobs::run_list(options.json);
    if (options.mode != Mode::bench) return run_together(options);
    compute::Helpers helpers("/proc/self/exe");
    return jobs::run_bench(helpers, *make_device(options), options.bench, bench_window,
                           options.json);
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
    } catch (const std::exception& e) {
        // Rank 0 of mpirun says it for all, and its exit code is that of all. If this process ended
        // with an error, mpirun could end rank 0 before it has said it.
        if (is_of_caller(e) && compute::place_of_process().index > 0) return 0;
        return complain(e.what(), is_of_caller(e) ? 2 : 1);
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
