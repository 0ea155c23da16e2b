#include "compute/confinement/confined_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <exception>
#include <fstream>
#include <future>
#include <stdexcept>
#include <thread>
#include <utility>

#include "compute/confinement/landlock_and_seccomp.h"

namespace warpscope::compute {
namespace {

namespace fs = std::filesystem;

/// How many things that were refused are told.
constexpr std::size_t most_refusals = 100;
constexpr int none = -1;

/// A call that names one or two files, which it changes. For each: the index of the argument that
/// is an open folder, or `none`, and of the one that is the path.
struct FileCall {
    std::uint32_t call;
    int folder, path;
    int second_folder = none, second_path = none;
};
constexpr FileCall file_calls[] = {
    {SYS_openat, 0, 1},          {SYS_unlinkat, 0, 1},           {SYS_mkdirat, 0, 1},
    {SYS_mknodat, 0, 1},         {SYS_symlinkat, 1, 2},          {SYS_truncate, none, 0},
#if defined(SYS_renameat)
    {SYS_renameat, 0, 1, 2, 3},
#endif
    {SYS_renameat2, 0, 1, 2, 3}, {SYS_linkat, 0, 1, 2, 3},
#if defined(__x86_64__)
    {SYS_open, none, 0},         {SYS_creat, none, 0},           {SYS_unlink, none, 0},
    {SYS_rmdir, none, 0},        {SYS_mkdir, none, 0},           {SYS_mknod, none, 0},
    {SYS_symlink, none, 1},      {SYS_rename, none, 0, none, 1}, {SYS_link, none, 0, none, 1},
#endif
};
/// Calls whose first argument is a process or a thread.
constexpr std::uint32_t of_processes[] = {
    SYS_kill, SYS_tkill, SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_prlimit64};

/// Calls that change permissions, which the supervisor makes itself: Landlock does not know them.
constexpr FileCall permission_calls[] = {
    {SYS_fchmod, 0, none},
    {SYS_fchmodat, 0, 1},
#if defined(__x86_64__)
    {SYS_chmod, none, 0},
#endif
};

struct RefusedCall {
    std::uint32_t call;
    const char* what;
};
constexpr const char *network = "connecting to a network", *processes = "reaching another process",
                     *metadata = "changing the owner or the times of a file",
                     *system_wide = "changing the system";
constexpr RefusedCall refused_calls[] = {
    {SYS_socket, network},
    {SYS_ptrace, processes},
    {SYS_process_vm_readv, processes},
    {SYS_process_vm_writev, processes},
    {424, processes},  // pidfd_send_signal
    {438, processes},  // pidfd_getfd
    {SYS_fchown, metadata},
    {SYS_fchownat, metadata},
    {SYS_utimensat, metadata},
    {SYS_setxattr, metadata},
    {SYS_lsetxattr, metadata},
    {SYS_fsetxattr, metadata},
    {SYS_removexattr, metadata},
    {SYS_lremovexattr, metadata},
    {SYS_fremovexattr, metadata},
#if defined(__x86_64__)
    {SYS_chown, metadata},
    {SYS_lchown, metadata},
    {SYS_utime, metadata},
    {SYS_utimes, metadata},
    {SYS_futimesat, metadata},
    {SYS_iopl, system_wide},
    {SYS_ioperm, system_wide},
#endif
    {SYS_mount, system_wide},
    {SYS_umount2, system_wide},
    {428, system_wide},  // open_tree
    {429, system_wide},  // move_mount
    {430, system_wide},  // fsopen
    {442, system_wide},  // mount_setattr
    {SYS_pivot_root, system_wide},
    {SYS_chroot, system_wide},
    {SYS_setns, system_wide},
    {SYS_unshare, system_wide},
    {SYS_reboot, system_wide},
    {SYS_kexec_load, system_wide},
    {SYS_init_module, system_wide},
    {SYS_finit_module, system_wide},
    {SYS_delete_module, system_wide},
    {SYS_swapon, system_wide},
    {SYS_swapoff, system_wide},
    {SYS_sethostname, system_wide},
    {SYS_setdomainname, system_wide},
    {SYS_settimeofday, system_wide},
    {SYS_clock_settime, system_wide},
    {SYS_adjtimex, system_wide},
    {SYS_clock_adjtime, system_wide},
    {SYS_acct, system_wide},
    {SYS_quotactl, system_wide},
    {SYS_bpf, system_wide},
    {SYS_perf_event_open, system_wide},
    {SYS_add_key, system_wide},
    {SYS_request_key, system_wide},
    {SYS_keyctl, system_wide},
};
/// These would do what other calls are asked for. Libraries make those where these are missing.
constexpr std::uint32_t missing_calls[] = {425 /* io_uring_setup */, 437 /* openat2 */,
                                           452 /* fchmodat2 */};

/// The filter for this thread and what it starts. Returns the file on which the kernel asks.
int install_filter() {
    using Filter = SystemCallFilter;
    constexpr std::uint32_t writes = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC;
    Filter filter;
    filter.set_if(SYS_openat, 2, BPF_JSET, writes, Filter::asked, Filter::allowed);
#if defined(__x86_64__)
    filter.set_if(SYS_open, 1, BPF_JSET, writes, Filter::asked, Filter::allowed);
#endif
    for (const FileCall& one : file_calls) filter.set(one.call, Filter::asked);
    for (const FileCall& one : permission_calls) filter.set(one.call, Filter::asked);
    for (const RefusedCall& one : refused_calls) filter.set(one.call, Filter::asked);
    filter.set_if(SYS_prlimit64, 0, BPF_JEQ, 0, Filter::allowed, Filter::asked);
    for (const std::uint32_t call : of_processes) filter.set(call, Filter::asked);
    for (const std::uint32_t call : missing_calls) filter.set(call, Filter::refused);
    // A program could type commands into the terminal of the person.
    filter.set_if(SYS_ioctl, 1, BPF_JEQ, TIOCSTI, Filter::refused, Filter::allowed);
    const sock_fprog program = filter.program(Filter::allowed);
    return int(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                         &program));
}

/// Restricts this thread for ever. Returns the file on which the kernel asks.
int restrict_thread(const std::vector<fs::path>& writable) {
    LandlockRules rules(LandlockRules::Takes::writing);
    for (const char* device : {"/dev/null", "/dev/zero", "/dev/full", "/dev/tty"})
        rules.leave(device);
    for (const fs::path& path : writable) rules.leave(path);
    const bool is_restricted = SystemCallFilter::architecture && rules.exist() &&
                               ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                               rules.restrict_thread();
    const int listener = is_restricted ? install_filter() : -1;
    if (listener < 0)
        throw std::runtime_error(
            "this system can't confine a program: that needs Landlock and seccomp, which Linux "
            "5.13 and newer have");
    return listener;
}

/// Whether a process descends from this one; `id` may be that of a thread.
bool is_descendant(std::int64_t id) {
    const auto own = std::int64_t(::getpid());
    while (id > 1 && id != own) {
        std::ifstream status(fmt::format("/proc/{}/status", id));
        std::string word;
        while (status >> word && word != "PPid:") continue;
        if (!(status >> id)) return false;
    }
    return id == own;
}

/// Answers what the kernel asks. Landlock decides which files are written, so that a program gains
/// nothing where it changes a path meanwhile.
class Supervisor {
  public:
    /// `thread`: the one that starts the program, and may do what Landlock allows.
    Supervisor(int listener, pid_t thread, const std::vector<fs::path>& writable)
        : listener_(listener),
          thread_(thread),
          writable_{"/dev/null", "/dev/zero", "/dev/full", "/dev/tty"} {
        for (const fs::path& path : writable) writable_.push_back(fs::weakly_canonical(path));
    }

    /// Until `over` can be read.
    void serve(const Descriptor& over) {
        pollfd files[] = {{listener_.get(), POLLIN, 0}, {over.get(), POLLIN, 0}};
        while (true) {
            if (::poll(files, 2, -1) < 0 && errno != EINTR) return;
            if (files[0].revents & POLLIN) answer();
            if (files[1].revents) return;
        }
    }
    std::vector<std::string> take_refused() { return std::move(refused_); }

  private:
    using Call = seccomp_notif;

    void answer() {
        Call call{};
        if (::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_RECV, &call) < 0) return;
        seccomp_notif_resp response{};
        response.id = call.id;
        std::string refused;
        const auto* const of_permissions =
            std::ranges::find(permission_calls, std::uint32_t(call.data.nr), &FileCall::call);
        if (pid_t(call.pid) != thread_ && of_permissions != std::end(permission_calls))
            refused = change_permissions(call, *of_permissions, response);
        else if (refused = refusal(call); refused.empty())
            response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        if (!refused.empty()) {
            response.error = refused.starts_with("writing") ? -EACCES : -EPERM;
            if (refused_.size() < most_refusals &&
                std::ranges::find(refused_, refused) == refused_.end())
                refused_.push_back(std::move(refused));
        }
        ::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_SEND, &response);
    }

    /// Makes the call in place of the program, so that it can't name another file meanwhile.
    std::string change_permissions(const Call& call, const FileCall& names,
                                   seccomp_notif_resp& response) const {
        const fs::path path =
            names.path == none
                ? fs::path(fmt::format("/proc/{}/fd/{}", call.pid, int(call.data.args[0])))
                : file_of(call, names.folder, names.path);
        const Descriptor file(::open(path.c_str(), O_PATH | O_CLOEXEC));
        const fs::path own = fmt::format("/proc/self/fd/{}", file.get());
        std::error_code error;
        const fs::path named = fs::read_symlink(own, error);
        if (!error && !is_writable(named))
            return fmt::format("changing the permissions of {}", named.string());
        const std::size_t mode = names.path == none ? 1 : std::size_t(names.path) + 1;
        if (::chmod(own.c_str(), mode_t(call.data.args[mode])) != 0) response.error = -errno;
        return "";
    }

    /// What is refused; empty: it is allowed.
    std::string refusal(const Call& call) const {
        if (pid_t(call.pid) == thread_) return "";
        const auto number = std::uint32_t(call.data.nr);
        const auto* const refused = std::ranges::find(refused_calls, number, &RefusedCall::call);
        if (number == SYS_socket && call.data.args[0] == AF_UNIX)
            return "connecting to a service of this system";
        if (refused != std::end(refused_calls)) return refused->what;
        if (std::ranges::find(of_processes, number) != std::end(of_processes)) {
            const auto id = std::int32_t(call.data.args[0]);
            return id > 1 && id != ::getpid() && is_descendant(id) ? "" : processes;
        }
        const auto* const file = std::ranges::find(file_calls, number, &FileCall::call);
        if (file == std::end(file_calls)) return processes;
        std::string first = refusal(call, file->folder, file->path);
        return first.empty() && file->second_path != none
                   ? refusal(call, file->second_folder, file->second_path)
                   : first;
    }

    std::string refusal(const Call& call, int folder, int path) const {
        const fs::path file = file_of(call, folder, path);
        // The folder of a file that is removed or made; a link to it may lead elsewhere.
        std::error_code error;
        const fs::path parent = fs::weakly_canonical(file.parent_path(), error);
        const fs::path named = fs::weakly_canonical(file, error);
        const bool is_inside = is_writable(parent / file.filename()) && is_writable(named);
        return is_inside
                   ? ""
                   : fmt::format("writing {}", named.empty() ? file.string() : named.string());
    }

    bool is_writable(const fs::path& path) const {
        return std::ranges::any_of(writable_, [&](const fs::path& root) {
            return std::mismatch(root.begin(), root.end(), path.begin(), path.end()).first ==
                   root.end();
        });
    }

    /// The absolute path that two arguments name.
    fs::path file_of(const Call& call, int folder, int path) const {
        const std::string process = fmt::format("/proc/{}", call.pid);
        std::string text = text_at(call, call.data.args[std::size_t(path)]);
        constexpr std::string_view self = "/proc/self";
        if (text.starts_with(self)) text.replace(0, self.size(), process);
        if (text.starts_with('/')) return text;
        const int open = folder == none ? AT_FDCWD : int(call.data.args[std::size_t(folder)]);
        std::error_code error;
        const fs::path from = fs::read_symlink(
            open == AT_FDCWD ? process + "/cwd" : fmt::format("{}/fd/{}", process, open), error);
        return (from / text).lexically_normal();
    }

    std::string text_at(const Call& call, std::uint64_t address) const {
        std::string text(PATH_MAX, '\0');
        std::size_t got = 0;
        // Page by page, because the last page may be followed by none.
        while (got < text.size() && text.find('\0') >= got) {
            constexpr std::size_t page = 4096;
            const std::size_t bytes = std::min(text.size() - got, page - (address + got) % page);
            const iovec ours{&text[got], bytes};
            const iovec theirs{reinterpret_cast<void*>(address + got), bytes};
            if (::process_vm_readv(pid_t(call.pid), &ours, 1, &theirs, 1, 0) <= 0) break;
            got += bytes;
        }
        return text.substr(0, std::min(text.find('\0'), text.size()));
    }

    const Descriptor listener_;
    const pid_t thread_;
    std::vector<fs::path> writable_;
    std::vector<std::string> refused_;
};

}  // namespace

std::vector<std::string> run_confined(const std::vector<fs::path>& writable,
                                      const std::function<void()>& work) {
    const Descriptor over(::eventfd(0, EFD_CLOEXEC));
    std::promise<int> listens;
    pid_t id = 0;
    std::exception_ptr failure;
    std::thread thread([&] {
        try {
            id = ::gettid();
            listens.set_value(restrict_thread(writable));
        } catch (...) {
            return listens.set_exception(std::current_exception());
        }
        try {
            work();
        } catch (...) {
            failure = std::current_exception();
        }
        ::eventfd_write(over.get(), 1);
    });
    std::vector<std::string> refused;
    try {
        const int listener = listens.get_future().get();
        Supervisor supervisor(listener, id, writable);
        supervisor.serve(over);
        refused = supervisor.take_refused();
    } catch (...) {
        failure = std::current_exception();
    }
    thread.join();
    if (failure) std::rethrow_exception(failure);
    return refused;
}

compiler::Ended run_confined_command(std::vector<std::string> command, const fs::path& folder,
                                     const std::stop_token& stop) {
    compiler::Ended ended;
    run_confined({folder}, [&] { ended = compiler::run_command(std::move(command), stop); });
    return ended;
}

}  // namespace warpscope::compute
