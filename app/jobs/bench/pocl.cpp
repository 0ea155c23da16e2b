#include "jobs/bench/pocl.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "compute/helper/spawn.h"
#include "emulator/machine/parallel.h"
#include "jobs/output/json.h"

extern char** environ;

namespace warpscope::jobs {

namespace {

std::string read_all(int file) {
    std::string text;
    char some[4096];
    for (ssize_t got = 0; (got = ::read(file, some, sizeof(some))) != 0;) {
        if (got > 0)
            text.append(some, std::size_t(got));
        else if (errno != EINTR)
            break;
    }
    return text;
}

/// Standard output of a program that has ended with exit code 0; otherwise empty.
std::string output_of(std::string program, std::string first, std::string second) {
    int ends[2];
    if (program.empty() || ::pipe2(ends, O_CLOEXEC) != 0) return {};
    compute::SpawnFiles files;
    files.give(ends[1], 1);
    char* const arguments[]{program.data(), first.data(), second.data(), nullptr};
    pid_t id = -1;
    const int error = ::posix_spawn(&id, program.c_str(), files.get(), nullptr, arguments, environ);
    ::close(ends[1]);
    std::string text = error ? "" : read_all(ends[0]);
    ::close(ends[0]);
    if (error) return {};
    int status = 0;
    while (::waitpid(id, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? text : "";
}

}  // namespace

std::string pocl_program() {
    std::error_code error;
    const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
    const auto program = self.parent_path() / "warpscope_opencl";
    return std::filesystem::exists(program, error) ? program.string() : "";
}

std::optional<PoclTimes> measure_pocl(const std::string& kernel, const std::string& program) {
    const std::string text =
        output_of(program, kernel, std::to_string(emulator::hardware_threads()));
    const Json json = Json::parse(text, nullptr, false);
    try {
        return PoclTimes{json.at("version"), json.at("default_ms"), json.at("relaxed_ms")};
    } catch (const Json::exception&) {
        return std::nullopt;
    }
}

}  // namespace warpscope::jobs
