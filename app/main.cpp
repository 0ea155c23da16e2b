#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <future>
#include <iostream>
#include <new>
#include <utility>
#include <vector>

#include "compiler/cache.h"
#include "compute/device/device.h"
#include "compute/emulated/emulated_device.h"
#include "compute/helper/helpers.h"
#include "compute/helper/termination_signal.h"
#include "compute/libraries/installed_files.h"
#include "compute/pick_device.h"
#include "experiments/framework/experiment.h"
#include "experiments/launch/gallery.h"
#include "jobs/debugger/dap.h"
#include "jobs/debugger/mcp.h"
#include "jobs/grade_command.h"
#include "jobs/headless/frame_loop.h"
#include "jobs/headless/headless.h"
#include "jobs/headless/kernel_files.h"
#include "jobs/list.h"
#include "jobs/output/files_and_terminal.h"
#include "jobs/output/verdict.h"
#include "jobs/programs/run_program.h"
#include "jobs/serve.h"
#include "launches/files/program_capture.h"
#include "options.h"
#include "processes.h"
#include "programs/report/program_control.h"
#include "ui/window/layout.h"
#include "ui/window/screenshot.h"
#include "ui/window/window.h"

namespace warpscope {
namespace {

/// Picks the device of the experiment, with all ranks if the experiment can use them.
std::unique_ptr<compute::Device> pick(const Options& options, const SharedProcesses& processes) {
    if (options.experiment.empty()) return compute::pick_first(options.device);
    return experiments::pick_for(experiments::find_experiment(options.experiment), options.device,
                                 processes);
}

std::unique_ptr<compute::Device> make_device(const Options& options,
                                             const SharedProcesses& processes = nullptr) {
    const emulator::CheckChoice& checks = options.headless.checks;
    if (checks.has_checks() || options.headless.counters) {
        auto device = compute::make_emulated_device(
            fmt::format("{} needs the emulator", checks.has_checks() ? "--check" : "--counters"));
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
    jobs::HeadlessRequest request = options.headless;
    request.experiment = options.experiment;
    const auto assignments = options.assignments.find(options.experiment);
    if (assignments != options.assignments.end()) request.assignments = assignments->second;
    if (options.size) request.size = *options.size;
    request.json = options.json;
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
    if (options.reset_settings) ui::save_settings(ui::settings_file(), {});
    ui::WindowOptions window;
    window.helpers = &helpers;
    window.pick = [processes](const std::string& wish, const experiments::Entry& entry) {
        return experiments::pick_for(entry, wish, processes);
    };
    window.kernel_source = options.kernel_source;
    window.kernels = options.kernels;
    if (!options.launch.empty()) window.launch = ui::find_launch(options.launch);
    if (options.device_given) window.device = options.device;
    if (options.run_given) window.run = options.run;
    window.experiment = options.experiment;
    window.assignments = options.assignments;
    window.size = options.size;
    window.vsync = options.vsync;
    window.language = options.language;
    window.lesson = options.lesson;
    window.record = options.headless.record;
    window.microscope = microscope_place(options);
    window.notice = options.no_program;
    window.widget_map = options.widget_map;
    const int signal = ui::run_window(window);
    // mpirun would take the end by a signal for a failure.
    if (signal && !processes) compute::end_by(signal);
    return 0;
}

int run_headless(const Options& options, compute::Helpers& helpers,
                 const SharedProcesses& processes) {
    ui::set_language(options.language.value_or(ui::Language::english));
    return jobs::run_headless(helpers, make_device(options, processes), headless_request(options),
                              painter(microscope_place(options)));
}

jobs::ProgramRequest program_request(const Options& options) {
    std::vector<std::string> compiler_options = options.compiler_options;
    if (options.run.math == compute::Math::fast) compiler_options.emplace_back("-use_fast_math");
    emulator::CheckChoice checks = options.headless.checks;
    checks.samples = !options.all_blocks;
    return {.command = options.program,
            .compiler_options = std::move(compiler_options),
            .target = options.target,
            .confined = options.confined,
            .time_limit = options.time_limit,
            .checks = checks,
            .counters = options.headless.counters,
            .capture = options.capture,
            .run = options.run,
            .fail_on = options.headless.fail_on,
            .error_status = options.error_status,
            .json = options.json,
            .with_forms = options.with_forms,
            .findings = options.headless.findings};
}

/// Runs the program and shows its launches in the window as they come. Where there is no display,
/// or no launch, the summary is all.
int run_program_and_window(const Options& options) {
    const bool has_display = std::getenv("DISPLAY") || std::getenv("WAYLAND_DISPLAY");
    jobs::ProgramRequest request = program_request(options);
    const std::filesystem::path cache = compiler::Cache::default_folder().parent_path();
    if (!has_display || cache.empty()) return jobs::run_program(request);
    request.capture.to = jobs::folder_for_launches(cache / "programs", options.program[0]);
    request.beside_window = true;
    auto program = std::async(std::launch::async, [&] { return jobs::run_program(request); });
    constexpr auto between_looks = std::chrono::milliseconds(50);
    while (program.wait_for(between_looks) != std::future_status::ready &&
           !launches::read_capture(request.capture.to)) {
    }
    if (!launches::read_capture(request.capture.to)) return program.get();
    Options window = options;
    window.mode = Mode::window;
    window.launch = request.capture.to;
    window.experiment = experiments::launch_experiment().id;
    emulator::Launcher::set_execution(options.execution);
    compute::Helpers helpers("/proc/self/exe");
    run_window(window, helpers, nullptr);
    programs::write_control(request.capture.to, {});  // it goes on
    return program.get();
}

int run_program(const Options& options) {
    const jobs::ProgramRequest request = program_request(options);
    if (options.headless.why.empty()) return jobs::run_program(request);
    compute::Helpers helpers("/proc/self/exe");
    return jobs::run_program_and_ask(helpers, request, headless_request(options));
}

int get_nvcc() {
    const std::string script = compute::shared_file("fetch_compiler");
    jobs::print_error("downloading nvcc from PyPI (129 MB)\n");
    ::execl(script.c_str(), script.c_str(), "nvcc", nullptr);
    throw std::runtime_error(fmt::format(
        "--get-nvcc: the script fetch_compiler, which comes with Warpscope, can't be started: {}",
        std::strerror(errno)));
}

int serve();

int run(const Options& options) {
    if (options.mode == Mode::serve) return serve();
    if (options.mode == Mode::mcp) return jobs::run_mcp(std::cin);
    if (options.mode == Mode::debugger) return jobs::run_debugger(options.dap_port);
    if (options.mode == Mode::get_nvcc) return get_nvcc();
    if (!options.no_program.empty()) jobs::print_error("warpscope: " + options.no_program + "\n");
    if (options.program_window) return run_program_and_window(options);
    if (options.mode == Mode::report) return jobs::print_report(options.report);
    if (options.mode == Mode::program) return run_program(options);
    if (options.mode == Mode::environment) {
        jobs::print(jobs::program_environment(program_request(options)));
        return 0;
    }
    if (options.mode == Mode::helper) return jobs::run_helper(options.helper_socket);
    if (options.mode == Mode::grade) {
        const jobs::GradeRequest request{options.lesson, options.solution, options.json};
        return options.grade_here ? jobs::grade_here(request) : jobs::run_grade(request);
    }
    check_processes(options);
    emulator::Launcher::set_execution(options.execution);
    if (options.mode == Mode::list) return jobs::run_list(options.json);
    return run_with_processes(options, [&](const SharedProcesses& processes) {
        compute::Helpers helpers("/proc/self/exe");
        helpers.compile_for(options.target);
        return options.mode == Mode::window ? run_window(options, helpers, processes)
                                            : run_headless(options, helpers, processes);
    });
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
        return jobs::complain("there is not enough memory; close other programs or raise its limit",
                              1);
    } catch (const std::exception& e) {
        return jobs::complain(e.what(), 1);
    }
}

/// Does what the command line asks for, with `run`. Returns the exit code.
int answer(int argc, const char* const* argv, const std::function<int(const Options&)>& run) {
    try {
        return run(parse_options(argc, argv));
    } catch (const Answer& answer) {
        return say(answer.text);
    } catch (const jobs::Interrupted& interrupted) {
        compute::end_by(interrupted.signal);
    } catch (const std::exception& e) {
        // Rank 0 of mpirun says it for all, and its exit code is that of all. If this process ended
        // with an error, mpirun could end rank 0 before it has said it.
        if (jobs::is_of_caller(e) && compute::place_of_process().index > 0) return 0;
        const auto* const block = dynamic_cast<const compute::BlockError*>(&e);
        const int failed = block && block->timed_out ? jobs::no_verdict : 1;
        return jobs::complain(e.what(), jobs::is_of_caller(e) ? 2 : failed);
    }
}

/// Answers requests with the helper processes that it keeps ready.
int serve() {
    compute::Helpers helpers("/proc/self/exe");
    const auto run_request = [&](const Options& options) {
        if (options.mode != Mode::headless)
            throw jobs::UsageError("--serve: a request needs --headless, --check or --counters");
        emulator::Launcher::set_execution(options.execution);
        return run_headless(options, helpers, nullptr);
    };
    jobs::serve(std::cin, [&](const std::vector<std::string>& arguments) {
        std::vector<const char*> argv{"warpscope"};
        for (const std::string& argument : arguments) argv.push_back(argument.c_str());
        return answer(int(argv.size()), argv.data(), run_request);
    });
    return 0;
}

}  // namespace
}  // namespace warpscope

int main(int argc, char** argv) {
    using namespace warpscope;
    reserve_standard_files();
    // Without this, a write() that makes a file larger than the process may write would end the
    // process instead of returning an error.
    std::signal(SIGXFSZ, SIG_IGN);
    const auto compiler = emulator::Launcher::keep_compiler();
    const int code = answer(argc, argv, run);
    // Nobody needs the kernel any more that is being compiled, which can take seconds. LLVM must
    // not be unloaded below its thread, so that the process ends without destructors.
    if (emulator::Launcher::is_compiling()) {
        std::fflush(nullptr);
        std::quick_exit(code);
    }
    return code;

}  // namespace warpscope
