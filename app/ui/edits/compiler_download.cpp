#include "ui/edits/compiler_download.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "compiler/nvrtc_output.h"
#include "compute/device/sentences.h"
#include "compute/helper/spawn.h"
#include "ui/language/language.h"

extern char** environ;

namespace warpscope::ui {
namespace {

using namespace std::chrono_literals;

std::string failure(std::string_view why) {
    return compute::sentence(tr("NVRTC was not downloaded: {}", why));
}

/// Starts the script in a process group of its own, with standard error in the file `errors`.
/// Returns an errno.
int spawn(const std::string& script, int errors, pid_t& id) {
    compute::SpawnFiles files;
    files.give_null(0, O_RDONLY);
    files.give_null(1, O_WRONLY);
    files.give(errors, 2);
    files.close_from(3);
    const compute::SpawnAttributes attributes;
    std::string name = script;
    char* const arguments[]{name.data(), nullptr};
    return ::posix_spawn(&id, script.c_str(), files.get(), attributes.get(), arguments, environ);
}

/// Waits until the process has ended, then ends all that is left of its group. A process that
/// ignores the stop for two seconds is killed. Returns its status.
int wait_for_group(const std::stop_token& stop, pid_t id) {
    constexpr auto pause = 20ms, patience = 2000ms;
    {
        // Until waitpid() no other process can get this number.
        const std::stop_callback terminate(stop, [id] { ::kill(-id, SIGTERM); });
        siginfo_t facts{};
        for (auto waited = 0ms;
             ::waitid(P_PID, id_t(id), &facts, WEXITED | WNOWAIT | WNOHANG) == 0 &&
             facts.si_pid == 0;
             std::this_thread::sleep_for(pause)) {
            if (!stop.stop_requested()) continue;
            if (waited >= patience) ::kill(-id, SIGKILL);
            waited += pause;
        }
        ::kill(-id, SIGKILL);
    }
    int status = 0;
    ::waitpid(id, &status, 0);
    return status;
}

/// The last line of a file, without the name of the script before it.
std::string last_line(int file, const std::string& script) {
    std::array<char, 4096> end{};
    const off_t size = ::lseek(file, 0, SEEK_END), most = off_t(end.size());
    const ssize_t got = ::pread(file, end.data(), end.size(), size > most ? size - most : 0);
    std::string_view text(end.data(), got > 0 ? std::size_t(got) : 0);
    while (text.ends_with('\n')) text.remove_suffix(1);
    if (const auto newline = text.rfind('\n'); newline != text.npos)
        text.remove_prefix(newline + 1);
    const std::string name = std::filesystem::path(script).filename().string() + ": ";
    if (text.starts_with(name)) text.remove_prefix(name.size());
    return compiler::clean(text);
}

}  // namespace

bool CompilerDownload::can_run() {
    const char* const path = std::getenv("PATH");
    for (std::string_view left = path ? path : ""; !left.empty();) {
        const std::size_t end = std::min(left.find(':'), left.size());
        const std::string program = std::string(left.substr(0, end)) + "/python3";
        if (::access(program.c_str(), X_OK) == 0) return true;
        left.remove_prefix(std::min(end + 1, left.size()));
    }
    return false;
}

void CompilerDownload::start() {
    if (script_.empty() || runs()) return;
    error_.clear();
    began_ = std::chrono::steady_clock::now();
    pid_t id = -1;
    const int errors = ::memfd_create("errors", MFD_CLOEXEC);
    if (errors >= 0) ::fcntl(errors, F_SETFL, O_APPEND);
    const int error = errors < 0 ? errno : spawn(script_, errors, id);
    const std::lock_guard lock(mutex_);
    if (error) {
        if (errors >= 0) ::close(errors);
        ended_ = {false, failure(fmt::format("{}: {}", script_, std::strerror(error)))};
        return;
    }
    runs_ = true;
    ended_.reset();
    thread_ =
        std::jthread([this, id, errors](const std::stop_token& stop) { follow(stop, id, errors); });
}

void CompilerDownload::follow(const std::stop_token& stop, pid_t id, int errors) {
    const int status = wait_for_group(stop, id);
    std::string why = last_line(errors, script_);
    ::close(errors);
    const bool done = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (why.empty() && WIFSIGNALED(status))
        why = tr("{} was killed by signal {}", script_, WTERMSIG(status));
    else if (why.empty())
        why = tr("{} ended with exit code {}", script_, WEXITSTATUS(status));
    const std::lock_guard lock(mutex_);
    runs_ = false;
    if (done || !stop.stop_requested()) ended_ = {done, done ? "" : failure(why)};
}

bool CompilerDownload::runs() const {
    const std::lock_guard lock(mutex_);
    return runs_;
}

double CompilerDownload::seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
}

CompilerDownload::News CompilerDownload::take_news() {
    std::optional<Ended> ended;
    {
        const std::lock_guard lock(mutex_);
        ended = std::exchange(ended_, std::nullopt);
    }
    if (!ended) return News::none;
    error_ = std::move(ended->error);
    return ended->done ? News::done : News::failed;
}

}  // namespace warpscope::ui
