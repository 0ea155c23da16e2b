// The ends of the program: its report, and its exit status. Findings are in the report from the
// time on when they were found, so that a signal leaves them; functions that end the process add
// what is known only then.
#include <fmt/format.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cassert>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "programs/gpu/gpu.h"
#include "programs/injection/injection.h"

extern char** environ;

namespace warpscope::programs {

namespace {

/// Names the process that has found something and has then become another program.
constexpr const char* found_by = "WARPSCOPE_FOUND_BY";

/// Has the app print the report. Returns the status that it ends with: 1 for errors that the checks
/// have found.
int print_by(const std::filesystem::path& app, const std::filesystem::path& report) {
    const std::string file = report.string(), program = app.string();
    const char* const arguments[] = {program.c_str(), "--report", file.c_str(), nullptr};
    std::vector<char*> variables;  // without this library
    for (char** variable = environ; *variable; ++variable)
        if (!std::string_view(*variable).starts_with("LD_PRELOAD=")) variables.push_back(*variable);
    variables.push_back(nullptr);
    pid_t child = 0;
    int status = 0;
    if (posix_spawn(&child, program.c_str(), nullptr, nullptr, const_cast<char* const*>(arguments),
                    variables.data()) ||
        waitpid(child, &status, 0) < 0)
        return 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/// Writes the report, or prints it where no app waits for it. Returns the status of a process that
/// ends with `status`.
int tell(int status) {
    const ProgramSettings& settings = gpu().settings();
    if (!settings.reports.empty()) {
        gpu().tell_all();
        return status;
    }
    if (!settings.checks.any() || settings.app.empty()) return status;
    try {
        const auto file = new_report_file(std::filesystem::temp_directory_path());
        write_report(gpu().report(), file);
        std::fflush(nullptr);
        const int found = print_by(settings.app, file);
        std::filesystem::remove(file);
        return found ? found : status;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "warpscope: %s\n", error.what());
        return status;
    }
}

/// Whether this thread executes a handler of a signal: that signal is blocked meanwhile. It may
/// have come within malloc(), which the report needs.
bool is_in_handler() {
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    for (int signal = 1; signal < SIGRTMIN; ++signal) {
        struct sigaction action {};
        if (sigismember(&blocked, signal) == 1 && sigaction(signal, nullptr, &action) == 0 &&
            action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN)
            return true;
    }
    return false;
}

/// The right to use the GPU at an end that may come at any time. None where a part of this library,
/// a handler of a signal, or another thread is at work: what was written until then is the report.
std::unique_ptr<Held> hold() {
    if (!has_gpu() || !gpu().has_to_report() || Held::depth() > 0 || is_in_handler()) return {};
    const std::unique_lock lock(gpu().mutex, std::try_to_lock);
    return lock ? std::make_unique<Held>() : nullptr;
}

/// The process is going to end by a signal.
void before_abort() {
    const auto held = hold();
    if (!held) return;
    gpu().finish_capture();
    tell(0);
}

/// The process becomes another program by `become(environment)`, which returns if it fails.
template <class Become>
int execute(char* const* environment, Become become) {
    int found = 0;
    if (const auto held = hold()) {
        gpu().run_rest();
        gpu().finish_capture();
        found = tell(0);
    }
    if (!found) return become(environment);
    std::string mark = fmt::format("{}={}", found_by, ::getpid());
    std::vector<char*> variables{mark.data()};
    for (; environment && *environment; ++environment) variables.push_back(*environment);
    variables.push_back(nullptr);
    return become(variables.data());
}

}  // namespace

int finish(int status) {
    static bool finished = false;
    if (!has_gpu() || !gpu().has_to_report() || std::exchange(finished, true)) return status;
    const Call held;
    gpu().finish();
    return tell(status);
}

namespace {

/// The status of a process that ends with `status`, and that may have been another program before.
int with_earlier(int status) {
    const char* const process = std::getenv(found_by);
    return process && std::atoi(process) == ::getpid() && !status ? 1 : status;
}

int finish_abruptly(int status) {
    const auto held = hold();
    return with_earlier(held ? finish(status) : status);
}

const bool ends_by_time_limit = [] {
    end_by_time_limit = [] {
        constexpr int no_verdict = 3;
        finish(no_verdict);
        std::fflush(nullptr);
        _exit(no_verdict);
    };
    return true;
}();

/// LLVM must not be unloaded below the thread that compiles, and it unloads in an exit handler. So
/// the work ends before the first of them, however the program ends: main() returns or it calls
/// exit().
int finish_before_handlers(int status) {
    status = with_earlier(finish(status));
    if (has_gpu() && gpu().has_to_report()) emulator::Launcher::end_compiler();
    return status;
}

int (*program_main)(int, char**, char**);
int main_with_end(int count, char** values, char** environment) {
    return finish_before_handlers(program_main(count, values, environment));
}

const auto real_exit = behind<void(int)>("exit"), real_exit_now = behind<void(int)>("_exit"),
           real_quick_exit = behind<void(int)>("quick_exit");
const auto real_abort = behind<void()>("abort");
const auto real_assert_fail =
    behind<void(const char*, const char*, unsigned, const char*)>("__assert_fail");
using Execute = int(const char*, char* const*, char* const*);
const auto real_execve = behind<Execute>("execve"), real_execvpe = behind<Execute>("execvpe");
const auto real_fexecve = behind<int(int, char* const*, char* const*)>("fexecve");

/// Nobody is told anything any more when the app has ended.
void end_with_app() {
    const int app = ProgramSettings::from_environment().app_process;
    if (app && app == ::getppid()) prctl(PR_SET_PDEATHSIG, SIGKILL);
}

const bool follows_forks = pthread_atfork(nullptr, nullptr, [] {
                               if (has_gpu()) gpu().on_fork();
                           }) == 0;

/// The arguments of execl(): the first one, those in the list, and a null pointer.
std::vector<char*> listed(const char* first, va_list& list) {
    std::vector<char*> all{const_cast<char*>(first)};
    while (all.back()) all.push_back(va_arg(list, char*));
    return all;
}

int execute(Execute* function, const char* program, char* const* arguments,
            char* const* environment) {
    return execute(environment,
                   [&](char* const* now) { return function(program, arguments, now); });
}

}  // namespace
}  // namespace warpscope::programs

using namespace warpscope::programs;

#define WARPSCOPE_BEFORE extern "C" __attribute__((visibility("default")))

WARPSCOPE_BEFORE int __libc_start_main(int (*main)(int, char**, char**), int count, char** values,
                                       void (*init)(), void (*fini)(), void (*loader_fini)(),
                                       void* stack_end) {
    using Start =
        int(int (*)(int, char**, char**), int, char**, void (*)(), void (*)(), void (*)(), void*);
    program_main = main;
    end_with_app();
    return behind<Start>("__libc_start_main")(main_with_end, count, values, init, fini, loader_fini,
                                              stack_end);
}
WARPSCOPE_BEFORE __attribute__((noreturn)) void exit(int status) {
    real_exit(finish_before_handlers(status));
    __builtin_unreachable();
}
WARPSCOPE_BEFORE __attribute__((noreturn)) void quick_exit(int status) noexcept {
    real_quick_exit(finish_abruptly(status));
    __builtin_unreachable();
}
WARPSCOPE_BEFORE __attribute__((noreturn)) void _exit(int status) {
    real_exit_now(finish_abruptly(status));
    __builtin_unreachable();
}
WARPSCOPE_BEFORE __attribute__((noreturn)) void _Exit(int status) noexcept {
    _exit(status);
}
WARPSCOPE_BEFORE __attribute__((noreturn)) void abort() noexcept {
    before_abort();
    real_abort();
    __builtin_unreachable();
}
WARPSCOPE_BEFORE __attribute__((noreturn)) void __assert_fail(const char* assertion,
                                                              const char* file, unsigned line,
                                                              const char* function) noexcept {
    before_abort();
    real_assert_fail(assertion, file, line, function);
    __builtin_unreachable();
}
WARPSCOPE_BEFORE int execve(const char* program, char* const* arguments,
                            char* const* environment) noexcept {
    return execute(real_execve, program, arguments, environment);
}
WARPSCOPE_BEFORE int execv(const char* program, char* const* arguments) noexcept {
    return execute(real_execve, program, arguments, environ);
}
WARPSCOPE_BEFORE int execvp(const char* program, char* const* arguments) noexcept {
    return execute(real_execvpe, program, arguments, environ);
}
WARPSCOPE_BEFORE int execvpe(const char* program, char* const* arguments,
                             char* const* environment) noexcept {
    return execute(real_execvpe, program, arguments, environment);
}
WARPSCOPE_BEFORE int fexecve(int file, char* const* arguments, char* const* environment) noexcept {
    return execute(environment,
                   [&](char* const* now) { return real_fexecve(file, arguments, now); });
}
WARPSCOPE_BEFORE int execl(const char* program, const char* first, ...) noexcept {
    va_list list;
    va_start(list, first);
    const auto arguments = listed(first, list);
    va_end(list);
    return execute(real_execve, program, arguments.data(), environ);
}
WARPSCOPE_BEFORE int execlp(const char* program, const char* first, ...) noexcept {
    va_list list;
    va_start(list, first);
    const auto arguments = listed(first, list);
    va_end(list);
    return execute(real_execvpe, program, arguments.data(), environ);
}
WARPSCOPE_BEFORE int execle(const char* program, const char* first, ...) noexcept {
    va_list list;
    va_start(list, first);
    const auto arguments = listed(first, list);
    char* const* const environment = va_arg(list, char* const*);
    va_end(list);
    return execute(real_execve, program, arguments.data(), environment);
}
