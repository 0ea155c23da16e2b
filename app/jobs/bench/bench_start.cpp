#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "compute/helper/spawn.h"
#include "jobs/bench/bench.h"

extern char** environ;

namespace warpscope::jobs {

namespace {

/// Runs this program with these arguments and discards its output.
void run_self(std::vector<std::string> arguments) {
    const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
    arguments.insert(arguments.begin(), self);
    compute::SpawnFiles files;
    files.give_null(STDOUT_FILENO, O_WRONLY);
    pid_t child = 0;
    const int error = posix_spawn(&child, self.c_str(), files.get(), nullptr,
                                  compute::pointers_to(arguments).data(), environ);
    if (error != 0) {
        throw std::runtime_error("starting " + self + " failed: " + std::strerror(error));
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (status != 0) throw std::runtime_error(self + " failed while its start was measured");
}

double start_ms(const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"--headless", "--device", "emulator", "--experiment",
                                       "ripple"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    std::vector<double> times;
    for (int i = 0; i < 9; ++i) times.push_back(milliseconds_of([&] { run_self(arguments); }));
    return median(times);
}

/// A file in the folder for temporary files. It is removed with the object.
struct TemporaryFile {
    std::filesystem::path path = std::filesystem::temp_directory_path() /
                                 ("warpscope-bench-" + std::to_string(::getpid()) + ".png");
    ~TemporaryFile() {
        std::error_code ignored;
        std::filesystem::remove(path, ignored);
    }
};

}  // namespace

void bench_start(std::vector<BenchRow>& rows) {
    const TemporaryFile picture;
    rows.push_back({.name = "start_ms",
                    .label = "start to first frame and end, emulator",
                    .value = start_ms({}),
                    .unit = "ms",
                    .bound = BenchRow::Bound::at_most,
                    .wanted = 1000});
    rows.push_back({.name = "start_window_ms",
                    .label = "start to first frame and end, with a screenshot",
                    .value = start_ms({"--screenshot", picture.path.string()}),
                    .unit = "ms",
                    .bound = BenchRow::Bound::at_most,
                    .wanted = 1000});
}

}  // namespace warpscope::jobs
