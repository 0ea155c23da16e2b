// The end of the program: its report, and its exit status.
#include <dlfcn.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "programs/gpu/gpu.h"
#include "programs/injection/ending.h"

extern char** environ;

namespace warpscope::programs {

namespace {

/// Has the app print the report. Returns the status that it ends with: 1 for errors that the checks
/// have found.
int print_by(const std::filesystem::path& app, const std::filesystem::path& report) {
    const std::string file = report.string(), program = app.string();
    const char* const arguments[] = {program.c_str(), "--report", file.c_str(), nullptr};
    ::unsetenv("LD_PRELOAD");
    pid_t child = 0;
    int status = 0;
    if (posix_spawn(&child, program.c_str(), nullptr, nullptr, const_cast<char* const*>(arguments),
                    environ) ||
        waitpid(child, &status, 0) < 0)
        return 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace

int finish(int status) {
    static bool finished = false;
    if (!has_gpu() || std::exchange(finished, true)) return status;
    const Call held;
    ProgramReport report = gpu().finish(command_line());
    const ProgramSettings& settings = gpu().settings();
    const bool reports_to_app = !settings.reports.empty();
    if (!reports_to_app && (!settings.checks.any() || settings.app.empty())) return status;
    const std::filesystem::path folder =
        reports_to_app ? settings.reports : std::filesystem::temp_directory_path();
    const std::filesystem::path file = folder / fmt::format("warpscope-{}.json", getpid());
    try {
        write_report(report, file);
        if (reports_to_app) return status;
        std::fflush(nullptr);
        const int found = print_by(settings.app, file);
        std::filesystem::remove(file);
        return found ? found : status;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "warpscope: %s\n", error.what());
        return status;
    }
}

namespace {

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
int (*program_main)(int, char**, char**);
int main_with_end(int count, char** values, char** environment) {
    return finish(program_main(count, values, environment));
}

}  // namespace
}  // namespace warpscope::programs

extern "C" __attribute__((visibility("default"))) int __libc_start_main(
    int (*main)(int, char**, char**), int count, char** values, void (*init)(), void (*fini)(),
    void (*loader_fini)(), void* stack_end) {
    using Start =
        int(int (*)(int, char**, char**), int, char**, void (*)(), void (*)(), void (*)(), void*);
    warpscope::programs::program_main = main;
    return reinterpret_cast<Start*>(dlsym(RTLD_NEXT, "__libc_start_main"))(
        warpscope::programs::main_with_end, count, values, init, fini, loader_fini, stack_end);
}

extern "C" __attribute__((visibility("default"), noreturn)) void exit(int status) {
    status = warpscope::programs::finish(status);
    reinterpret_cast<void (*)(int)>(dlsym(RTLD_NEXT, "exit"))(status);
    __builtin_unreachable();
}
