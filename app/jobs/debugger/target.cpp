#include "jobs/debugger/target.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "compiler/cache.h"
#include "compute/device/kernel_files.h"
#include "compute/emulated/emulated_device.h"
#include "experiments/launch/open_launch.h"
#include "experiments/launch/program_command.h"
#include "experiments/replicas/word_history.h"
#include "jobs/output/files_and_terminal.h"
#include "jobs/programs/run_program.h"
#include "launches/files/capture_archive.h"
#include "launches/files/file_kind.h"

namespace warpscope::jobs {

namespace fs = std::filesystem;
using launches::FileKind;
using launches::KernelTypes;

namespace {

void throw_if_stopped(const std::stop_token& stop) {
    if (stop.stop_requested()) throw UsageError("the launch was not opened: it was stopped");
}

}  // namespace

Target::Target(compute::Helpers& helpers, TargetRequest request,
               std::function<void(std::string_view)> tell)
    : helpers_(helpers), request_(std::move(request)), tell_(std::move(tell)) {
    const fs::path& path = request_.program;
    if (!request_.experiment.empty()) {
        kind_ = Kind::experiment;
        return;
    }
    const FileKind kind = launches::file_kind(path);
    const bool in_gallery = path.filename() == path && !fs::exists(path);
    if (!in_gallery && !fs::exists(path))
        throw UsageError(fmt::format("{}: there is no such file", path.string()));
    if (fs::is_directory(path) || kind == FileKind::capture) {
        kind_ = Kind::capture;
        folder_ = fs::is_directory(path) ? path : launches::unpacked(path);
        if (!launches::read_capture(folder_))
            throw UsageError(path.string() + ": it has no launches of a program");
    } else if (in_gallery || kind == FileKind::launch_file || kind == FileKind::json ||
               (kind == FileKind::source && !launches::is_program_source(path))) {
        kind_ = Kind::file;
    } else if (kind == FileKind::source || ::access(path.c_str(), X_OK) == 0) {
        kind_ = Kind::program;
        start_program();
    } else {
        throw UsageError(
            fmt::format("{}: name a source, a program, a launch file or a capture", path.string()));
    }
}

Target::~Target() {
    stop_.request_stop();
    if (running_.valid()) running_.wait();
    std::error_code ignored;
    if (kind_ == Kind::program) fs::remove_all(folder_, ignored);
}

void Target::start_program() {
    folder_ = folder_for_launches(compiler::Cache::default_folder().parent_path() / "programs",
                                  request_.program);
    fs::create_directories(folder_);
    programs::write_control(folder_, {1, request_.kernel, int(::getpid())});
    std::vector<std::string> options;
    const fs::path program = fs::absolute(request_.program);
    if (!request_.optimized && launches::file_kind(program) == FileKind::source)
        options = {"--nvcc", "-G"};
    std::vector<std::string> command =
        experiments::program_command(program, folder_, request_.run, options);
    command.insert(command.end(), request_.arguments.begin(), request_.arguments.end());
    running_ = std::async(std::launch::async, [command, stop = stop_.get_token(), tell = tell_] {
        return compiler::run_command(command, stop, tell);
    });
}

int Target::exit_status() {
    if (running_.valid()) {
        const int status = running_.get().status;
        status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    return status_;
}

bool Target::is_wanted(const launches::CapturedLaunch& launch) const {
    return launch.number > opened_ && programs::is_in(request_.launches, launch.number) &&
           (request_.kernel.empty() || launch.kernel == request_.kernel);
}

/// Lets the program go on until it has made a launch that is wanted.
std::optional<fs::path> Target::next_of_program(const std::stop_token& stop) {
    constexpr auto between_looks = std::chrono::milliseconds(5);
    std::uint64_t seen = opened_;
    while (true) {
        const bool has_ended =
            !running_.valid() || running_.wait_for(between_looks) == std::future_status::ready;
        throw_if_stopped(stop);
        const auto capture = launches::read_capture(folder_);
        const auto none = std::vector<launches::CapturedLaunch>();
        for (const launches::CapturedLaunch& launch : capture ? capture->launches : none) {
            if (launch.number <= seen) continue;
            seen = launch.number;
            if (is_wanted(launch)) {
                opened_ = launch.number;
                return launch.file;
            }
        }
        if (has_ended) return {};
        programs::write_control(folder_, {seen + 1, request_.kernel, int(::getpid())});
    }
}

std::optional<fs::path> Target::next_file(const std::stop_token& stop) {
    if (kind_ == Kind::program) return next_of_program(stop);
    const auto capture = launches::read_capture(folder_);
    for (const launches::CapturedLaunch& launch : capture->launches) {
        if (!is_wanted(launch)) continue;
        opened_ = launch.number;
        return launch.file;
    }
    return {};
}

std::optional<OpenedLaunch> Target::next(const std::stop_token& stop, std::uint64_t first) {
    if (kind_ == Kind::program && first && first <= opened_)
        throw UsageError(fmt::format("the program has gone on to launch {}: restart it", opened_));
    const std::uint64_t before = opened_;
    if (first) opened_ = first - 1;
    if (kind_ == Kind::experiment || kind_ == Kind::file) {
        if (std::exchange(opened_, 1) == 1) return {};
        if (kind_ == Kind::file) return open_file(request_.program, stop);
        return open_experiment(experiments::find_experiment(request_.experiment), stop);
    }
    const auto file = next_file(stop);
    if (!file) {
        opened_ = before;
        return {};
    }
    OpenedLaunch opened = open_file(*file, stop);
    opened.number = opened_;
    opened.folder = folder_;
    return opened;
}

OpenedLaunch Target::open_experiment(const experiments::Entry& entry, const std::stop_token& stop) {
    const auto device =
        compute::make_emulated_device({.reason = "for the debugger", .settings = request_.run});
    const auto experiment = entry.make(*device);
    experiment->set(request_.values);
    return open_state(
        std::make_shared<const experiments::LaunchState>(entry, *experiment, request_.run), stop);
}

OpenedLaunch Target::open_file(const fs::path& path, const std::stop_token& stop) {
    const launches::LaunchFile file = experiments::find_launch_file(path);
    if (file.built_in) return open_experiment(*experiments::launch_entry(file), stop);
    const auto state = experiments::open_captured(helpers_, file, request_.run, stop);
    auto debugged = std::make_shared<experiments::LaunchState>(*state);
    bool is_other = false;
    for (auto& [name, edit] : debugged->edits)
        if (!request_.optimized && !edit->unoptimized.empty()) {
            edit = compute::with_ptx(*edit, edit->unoptimized);
            is_other = true;
        }
    try {
        if (is_other) return open_state(debugged, stop);
    } catch (const std::exception&) {
        throw_if_stopped(stop);  // it may use what the emulator does not know
    }
    return open_state(state, stop);
}

OpenedLaunch Target::open_state(std::shared_ptr<const experiments::LaunchState> state,
                                const std::stop_token& stop) {
    OpenedLaunch opened;
    opened.specimen = std::make_unique<experiments::Specimen>(
        *state, compute::usual_emulator_memory(), stop, std::shared_ptr<compute::LaunchProgress>(),
        request_.kernel);
    opened.types = types_of(*state, *opened.specimen, stop);
    opened.state = std::move(state);
    return opened;
}

/// From the debug information of the source. Nothing is known without it.
KernelTypes Target::types_of(const experiments::LaunchState& state, experiments::Specimen& specimen,
                             const std::stop_token& stop) {
    const auto plan = specimen.experiment().plan();
    const std::string file = compute::kernel_path(specimen.experiment().kernel_file());
    const auto edit = state.edits.find(specimen.experiment().kernel_file());
    std::string ptx = edit == state.edits.end() ? std::string() : edit->second->unoptimized;
    if (edit == state.edits.end() && !compute::kernel_source(file).empty()) try {
            compiler::Request request{file, std::string(compute::kernel_source(file)), false};
            request.debug_info = true;
            ptx = helpers_.compile(request, stop).ptx;
        } catch (const std::exception&) {
            throw_if_stopped(stop);  // else there are registers only
        }
    return launches::read_types(*specimen.launch().kernel, std::move(ptx),
                                plan ? plan->signatures : std::vector<compiler::Signature>());
}

}  // namespace warpscope::jobs
