#include "compiler/programs/run_command.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <system_error>
#include <thread>

extern char** environ;

namespace warpscope::compiler {
namespace {

using namespace std::chrono_literals;

/// A file without a name, for what a command prints: it holds any amount while nobody reads.
class Output {
  public:
    Output() : file_(::memfd_create("output", MFD_CLOEXEC)) {
        if (file_ < 0) throw std::system_error(errno, std::generic_category(), "memfd_create");
        ::fcntl(file_, F_SETFL, O_APPEND);
    }
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;
    ~Output() { ::close(file_); }

    int file() const { return file_; }
    std::string text(std::size_t from = 0) const {
        std::string text(std::size_t(::lseek(file_, 0, SEEK_END)) - from, '\0');
        const ssize_t got = ::pread(file_, text.data(), text.size(), off_t(from));
        text.resize(got > 0 ? std::size_t(got) : 0);
        return text;
    }

  private:
    int file_;
};

/// Returns an errno.
int spawn(std::vector<std::string>& command, const Output& output, pid_t& id) {
    std::vector<char*> words;
    for (std::string& word : command) words.push_back(word.data());
    words.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, output.file(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, output.file(), STDERR_FILENO);
    posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    const int error = ::posix_spawnp(&id, words[0], &files, &attributes, words.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return error;
}

/// Waits until the process has ended, then ends all that is left of its group.
int wait_for_group(const std::stop_token& stop, pid_t id, const std::function<void()>& look) {
    constexpr auto pause = 20ms, patience = 2000ms;
    siginfo_t facts{};
    if (!stop.stop_possible()) {
        while (::waitid(P_PID, id_t(id), &facts, WEXITED | WNOWAIT) < 0 && errno == EINTR) continue;
    } else {
        // Until waitpid() no other process can get this number.
        const std::stop_callback terminate(stop, [id] { ::kill(-id, SIGTERM); });
        for (auto waited = 0ms;
             ::waitid(P_PID, id_t(id), &facts, WEXITED | WNOWAIT | WNOHANG) == 0 &&
             facts.si_pid == 0;
             std::this_thread::sleep_for(pause)) {
            look();
            if (!stop.stop_requested()) continue;
            if (waited >= patience) ::kill(-id, SIGKILL);
            waited += pause;
        }
    }
    ::kill(-id, SIGKILL);
    int status = 0;
    while (::waitpid(id, &status, 0) < 0 && errno == EINTR) continue;
    return status;
}

}  // namespace

Ended run_command(std::vector<std::string> command, const std::stop_token& stop,
                  const std::function<void(std::string_view)>& tell) {
    const Output output;
    pid_t id = -1;
    if (const int error = spawn(command, output, id))
        throw std::system_error(error, std::generic_category(), command[0]);
    std::size_t told = 0;
    const auto look = [&] {
        const std::string printed = tell ? output.text(told) : std::string();
        told += printed.size();
        if (!printed.empty()) tell(printed);
    };
    const int status = wait_for_group(stop, id, look);
    look();
    return {status, output.text()};
}

}  // namespace warpscope::compiler
