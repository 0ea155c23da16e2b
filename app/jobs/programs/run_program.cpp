#include "jobs/programs/run_program.h"

#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>

#include "compiler/programs/program.h"
#include "compute/confinement/confined_program.h"
#include "compute/confinement/descriptor.h"
#include "compute/cuda/survey.h"
#include "compute/helper/spawn.h"
#include "compute/libraries/installed_files.h"
#include "experiments/framework/metadata.h"
#include "jobs/headless/headless.h"
#include "jobs/headless/kernel_files.h"
#include "jobs/output/files_and_terminal.h"
#include "jobs/output/verdict.h"
#include "jobs/programs/program_result.h"
#include "launches/files/capture_archive.h"
#include "launches/files/file_kind.h"
#include "launches/files/program_capture.h"
#include "programs/report/program_control.h"
#include "programs/report/program_settings.h"

extern char** environ;

namespace warpscope::jobs {

namespace {

namespace fs = std::filesystem;

constexpr const char *emulator = "libwarpscope_cuda.so", *recorder = "libwarpscope_recorder.so";
/// The folder that a confined program may fill.
constexpr const char* scratch = "scratch";

fs::path library(const char* name) {
    for (const fs::path& file : compute::places_of_library(name))
        if (fs::exists(file)) return file;
    throw UsageError(fmt::format(
        "{} is missing beside the app: it is built for x86-64 without sanitizers", name));
}

/// Whether a GPU makes the launches, which the recorder writes.
bool is_on_gpu(const ProgramRequest& request) {
    return request.capture.on_gpu && !request.checks.has_checks() && !request.counters &&
           compute::survey_cuda().devices > 0;
}

/// A folder that is removed at the end.
class TemporaryFolder {
  public:
    TemporaryFolder() {
        std::string name = (fs::temp_directory_path() / "warpscope-XXXXXX").string();
        if (!mkdtemp(name.data()))
            throw std::runtime_error(
                fmt::format("{}: cannot be made: {}", name, std::strerror(errno)));
        path_ = name;
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    const fs::path& path() const { return path_; }

  private:
    fs::path path_;
};

/// Triton links its launchers with a file of these names, and tinygrad loads one: `folder` gets
/// them.
void link_driver(const fs::path& folder) {
    for (const char* const name : {"libcuda.so", "libcuda.so.1"})
        fs::create_symlink(library(emulator), folder / name);
}

/// A list of paths with one more in front of those that the variable has.
std::string in_front(const fs::path& path, const char* variable) {
    const char* const others = std::getenv(variable);
    return path.string() + (others && *others ? fmt::format(":{}", others) : "");
}

bool is_archive(const CaptureRequest& capture) {
    return capture.to.extension() == launches::archive_extension;
}

/// Where the library in the program writes launches. An archive is made of a folder in `temporary`.
fs::path capture_folder(const CaptureRequest& capture, const fs::path& temporary) {
    if (capture.to.empty()) return {};
    if (is_archive(capture)) check_writable(capture.to, "--capture");
    const fs::path folder = is_archive(capture) ? temporary / "capture" : fs::absolute(capture.to);
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) throw UsageError(fmt::format("--capture {}: {}", folder.string(), error.message()));
    return folder;
}

using Deadline = std::optional<std::chrono::steady_clock::time_point>;

std::map<std::string, std::string> environment(const ProgramRequest& request,
                                               const fs::path& reports, const fs::path& captures,
                                               const fs::path& unoptimized = {},
                                               const Deadline& deadline = {}) {
    programs::ProgramSettings settings{
        .checks = request.checks,
        .schedule = request.run.schedule,
        .barriers = request.run.barriers,
        .landing = request.run.landing,
        .seed = request.run.seed,
        .reports = reports,
        .app = fs::read_symlink("/proc/self/exe"),
        .app_process = reports.empty() ? 0 : ::getpid(),
        .unoptimized = unoptimized,
        .deadline = deadline,
        .captures = captures,
        .captured_launches = request.capture.launches,
        .captured_kernel = request.capture.kernel,
    };
    settings.checks.counters = request.counters;
    const bool on_gpu = is_on_gpu(request);
    auto variables = settings.to_environment();
    variables["LD_PRELOAD"] = in_front(library(on_gpu ? recorder : emulator), "LD_PRELOAD");
    // CuPy hands PTX to the driver if it is asked for it. Machine code that nvcc makes with line
    // information, as PyCUDA has it do, holds its PTX.
    variables["CUPY_COMPILE_WITH_PTX"] = "1";
    const char* const flags = std::getenv("NVCC_APPEND_FLAGS");
    variables["NVCC_APPEND_FLAGS"] = flags ? fmt::format("{} -lineinfo", flags) : "-lineinfo";
    if (!reports.empty() && !on_gpu) {
        variables["TRITON_LIBCUDA_PATH"] = reports;
        variables["LD_LIBRARY_PATH"] = in_front(reports, "LD_LIBRARY_PATH");
    }
    if (request.confined) variables["TMPDIR"] = reports / scratch;
    return variables;
}

/// The environment of this process with other values for some variables.
std::vector<std::string> with(const std::map<std::string, std::string>& variables) {
    std::vector<std::string> all;
    for (char** variable = environ; *variable; ++variable) {
        const std::string text = *variable;
        if (!variables.contains(text.substr(0, text.find('=')))) all.push_back(text);
    }
    for (const auto& [name, value] : variables) all.push_back(name + "=" + value);
    return all;
}

volatile std::sig_atomic_t running_program = 0;

/// While it exists, signals are for the program: those of the terminal reach it too, and SIGTERM is
/// sent on.
class SignalsForProgram {
  public:
    SignalsForProgram() {
        for (std::size_t i = 0; i < std::size(signals); ++i)
            old_[i] = std::signal(signals[i], signals[i] == SIGTERM ? send_on : SIG_IGN);
    }
    ~SignalsForProgram() {
        for (std::size_t i = 0; i < std::size(signals); ++i) std::signal(signals[i], old_[i]);
    }
    SignalsForProgram(const SignalsForProgram&) = delete;
    SignalsForProgram& operator=(const SignalsForProgram&) = delete;

  private:
    static void send_on(int signal) {
        if (running_program > 0) ::kill(pid_t(running_program), signal);
    }
    static constexpr int signals[] = {SIGINT, SIGQUIT, SIGTERM};
    void (*old_[3])(int);
};

/// Waits until a process has ended. Returns false if it has not by then.
bool ends_by(pid_t process, const std::chrono::steady_clock::time_point& end) {
    using std::chrono::milliseconds;
    const compute::Descriptor file(int(::syscall(SYS_pidfd_open, process, 0)));
    pollfd ending{file.get(), POLLIN, 0};
    while (true) {
        const auto left = std::chrono::ceil<milliseconds>(end - std::chrono::steady_clock::now());
        if (left.count() <= 0) return false;
        if (::poll(&ending, 1, int(std::min<std::int64_t>(left.count(), INT_MAX))) > 0) return true;
    }
}

/// A file to execute, and the words of its command.
struct Executable {
    fs::path file;
    std::vector<std::string> words;
    fs::path unoptimized{};  ///< the folder of its PTX without optimization; empty: not known
};

/// How a program has ended.
struct EndOfProgram {
    int status = 0;           ///< as shells have it
    int signal = 0;           ///< that has ended it; 0: none
    bool was_killed = false;  ///< it did not end in time
};

EndOfProgram run(const Executable& program, const std::map<std::string, std::string>& variables,
                 bool takes_signals, const Deadline& deadline) {
    std::vector<std::string> arguments = program.words, all = with(variables);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t defaults;
    sigemptyset(&defaults);
    for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGXFSZ}) sigaddset(&defaults, signal);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    // A signal that comes now waits until there is a program to send it to.
    sigset_t all_signals, before;
    sigfillset(&all_signals);
    pthread_sigmask(SIG_SETMASK, &all_signals, &before);
    posix_spawnattr_setsigmask(&attributes, &before);
    std::optional<SignalsForProgram> signals;
    if (takes_signals) signals.emplace();
    pid_t child = 0;
    const int problem =
        posix_spawnp(&child, program.file.c_str(), nullptr, &attributes,
                     compute::pointers_to(arguments).data(), compute::pointers_to(all).data());
    posix_spawnattr_destroy(&attributes);
    running_program = problem ? 0 : child;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (problem)
        throw UsageError(
            fmt::format("{}: cannot be started: {}", program.words[0], std::strerror(problem)));
    EndOfProgram end;
    // The library in the program ends it at the deadline, and writes what was found until then.
    constexpr std::chrono::seconds patience(3);
    if (deadline && !ends_by(child, *deadline + patience)) {
        end.was_killed = true;
        ::kill(child, SIGKILL);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    running_program = 0;
    end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    end.status = end.signal ? 128 + end.signal : WEXITSTATUS(status);
    return end;
}

/// Compiles the program if it is a source.
Executable executable_of(const ProgramRequest& request) {
    Executable executable{.file = request.command[0], .words = request.command};
    if (launches::file_kind(executable.file) != launches::FileKind::source) return executable;
    if (!fs::exists(executable.file))
        throw UsageError(fmt::format("{}: there is no such file", executable.file.string()));
    compiler::RunCompiler confined;
    if (request.confined)
        confined = [](std::vector<std::string> command, const fs::path& folder) {
            return compute::run_confined_command(std::move(command), folder);
        };
    const compiler::CompiledProgram made =
        compiler::compile_program({.file = executable.file,
                                   .options = request.compiler_options,
                                   .target = request.target,
                                   .unoptimized = request.checks.has_checks()},
                                  confined);
    print_error(made.warnings);
    executable.words[0] = fs::path(executable.file).replace_extension().string();
    executable.file = made.executable;
    executable.unoptimized = made.executable.parent_path();
    return executable;
}

std::string stopped_at(const EndOfProgram& end,
                       const std::vector<programs::ProgramReport>& processes) {
    for (const programs::ProgramReport& process : processes)
        if (!process.stopped.empty()) return process.stopped;
    return end.was_killed ? "the program did not end" : "";
}

std::vector<programs::ProgramReport> read_reports(const fs::path& folder) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder))
        if (entry.path().extension() == ".json") files.push_back(entry.path());
    std::ranges::sort(files);
    std::vector<programs::ProgramReport> reports;
    for (const fs::path& file : files) {
        try {
            reports.push_back(programs::read_report(file));
            make_readable(reports.back(), fs::current_path().string() + "/");
        } catch (const std::runtime_error& error) {
            reports.push_back({.command = "a process of the program",
                               .errors = {error.what()},
                               .notes = {error.what()},
                               .has_ended = true});
        }
    }
    return reports;
}

Known review_of(const ProgramResult& result, const FindingFiles& files) {
    Sources sources;
    const fs::path program = result.command.empty() ? "" : result.command[0];
    if (launches::file_kind(program) == launches::FileKind::source)
        sources.files.push_back(program);
    return review(result.verdict(), result.checks, files, sources);
}

/// What the checks have found decides, and else the program itself.
int status_of(const ProgramResult& result, const ProgramRequest& request) {
    if (!result.checks.has_checks())
        return result.stopped.empty() ? result.exit_status : no_verdict;
    const int found = exit_status(result.verdict(), request.fail_on, result.known);
    if (found == 0) return result.exit_status;
    return found == no_verdict ? no_verdict : request.error_status;
}

void pack(const fs::path& captures, const fs::path& archive) {
    if (launches::read_capture(captures)) return launches::write_archive(captures, archive);
    print_error(fmt::format("{} is not written: no launch was captured\n", archive.string()));
}

int run_executable(const ProgramRequest& request, const Executable& program) {
    const TemporaryFolder reports;
    const fs::path captures = capture_folder(request.capture, reports.path());
    link_driver(reports.path());
    fs::create_directory(reports.path() / scratch);
    ProgramResult result{.command = request.command,
                         .checks = request.checks,
                         .counted = request.counters,
                         .with_forms = request.with_forms,
                         .confined = request.confined};
    Deadline deadline;
    if (request.time_limit.count() > 0)
        deadline = std::chrono::steady_clock::now() + request.time_limit;
    const auto variables =
        environment(request, reports.path(), captures, program.unoptimized, deadline);
    EndOfProgram end;
    const auto start = [&] { end = run(program, variables, !request.beside_window, deadline); };
    std::vector<fs::path> writable{reports.path()};
    if (!captures.empty()) writable.push_back(captures);
    if (request.confined)
        result.refused = compute::run_confined(writable, start);
    else
        start();
    result.exit_status = end.status;
    result.signal = end.was_killed ? 0 : end.signal;
    result.processes = read_reports(reports.path());
    result.stopped = stopped_at(end, result.processes);
    if (result.checks.has_checks()) result.known = review_of(result, request.findings);
    if (!request.json.empty()) write_file(request.json, dump(to_json(result)));
    if (result.checks.has_checks())
        write_findings(request.findings, result.verdict(), result.checks, request.fail_on,
                       result.known, true);
    print_error(summary(result));
    if (is_archive(request.capture)) pack(captures, request.capture.to);
    return status_of(result, request);
}

}  // namespace

fs::path folder_for_launches(const fs::path& parent, const fs::path& program) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(parent, ignored)) {
        const int process = std::atoi(entry.path().filename().c_str());
        if (process == ::getpid() || !programs::is_alive(process))
            fs::remove_all(entry.path(), ignored);
    }
    return parent / fmt::format("{}-{}", ::getpid(), program.filename().string());
}

int run_program(const ProgramRequest& request) {
    if (!request.json.empty()) check_writable(request.json, "--json");
    check_files(request.findings);
    try {
        return run_executable(request, executable_of(request));
    } catch (const compiler::CompileError& error) {
        print_error(diagnostic_lines(request.command[0], error.diagnostics));
        return 2;
    }
}

int run_program_and_ask(compute::Helpers& helpers, ProgramRequest request,
                        HeadlessRequest question) {
    const TemporaryFolder folder;
    if (request.capture.to.empty()) request.capture.to = folder.path() / "launches";
    const int status = run_program(request);
    if (!fs::exists(request.capture.to)) return status;  // it was not run, or has no launches
    question.launch = request.capture.to;
    const Why why = ask_capture(helpers, request.run, std::move(question));
    print_error(visible(why_text(why)));
    if (request.json.empty()) return status;
    Json json = Json::parse(std::ifstream(request.json));
    json["why"] = to_json(why);
    write_file(request.json, dump(json));
    return status;
}

std::string program_environment(const ProgramRequest& request) {
    std::string text;
    if (is_archive(request.capture))
        throw UsageError("--print-environment: name a folder with --capture, which can be packed");
    for (const auto& [name, value] : environment(request, {}, capture_folder(request.capture, {})))
        text += fmt::format("export {}={}\n", name, experiments::shell_word(value));
    return text;
}

int print_report(const std::filesystem::path& file) {
    const auto settings = programs::ProgramSettings::from_environment();
    ProgramResult result{.checks = settings.checks, .counted = settings.checks.counters};
    result.processes.push_back(programs::read_report(file));
    make_readable(result.processes.back(), fs::current_path().string() + "/");
    if (result.checks.has_checks()) result.known = review_of(result, {});
    print_error(summary(result));
    return status_of(result, {});
}

}  // namespace warpscope::jobs
