#include "compute/confinement/confinement.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <span>
#include <string_view>

#include "compiler/programs/nvcc.h"
#include "compute/confinement/landlock_and_seccomp.h"

namespace warpscope::compute {
namespace {

using Calls = std::span<const std::uint32_t>;

// Calls that name files. Landlock decides which files they may reach.
constexpr std::uint32_t of_files[] = {
    SYS_close,      SYS_faccessat, SYS_fcntl,      SYS_fstat,  SYS_fstatfs, SYS_getcwd,
    SYS_getdents64, SYS_lseek,     SYS_newfstatat, SYS_openat, SYS_pread64, SYS_read,
    SYS_readlinkat, SYS_readv,     SYS_statfs,     SYS_statx,  SYS_write,   SYS_writev};
constexpr std::uint32_t of_memory[] = {SYS_brk,      SYS_madvise, SYS_mmap,
                                       SYS_mprotect, SYS_mremap,  SYS_munmap};
constexpr std::uint32_t of_open_sockets[] = {SYS_ppoll, SYS_recvfrom, SYS_recvmsg, SYS_sendmsg,
                                             SYS_sendto};
constexpr std::uint32_t of_threads[] = {
    SYS_exit,        SYS_exit_group,      SYS_futex,          SYS_getpid,
    SYS_gettid,      SYS_membarrier,      SYS_rseq,           SYS_sched_getaffinity,
    SYS_sched_yield, SYS_set_robust_list, SYS_set_tid_address};
constexpr std::uint32_t of_signals[] = {SYS_restart_syscall, SYS_rt_sigaction, SYS_rt_sigprocmask,
                                        SYS_rt_sigreturn, SYS_sigaltstack};
constexpr std::uint32_t of_time_and_facts[] = {
    SYS_clock_getres, SYS_clock_gettime, SYS_clock_nanosleep, SYS_getegid,      SYS_geteuid,
    SYS_getgid,       SYS_getrandom,     SYS_getrusage,       SYS_gettimeofday, SYS_getuid,
    SYS_nanosleep,    SYS_prctl,         SYS_sysinfo,         SYS_uname};
#if defined(__x86_64__)
constexpr std::uint32_t older_forms[] = {SYS_access, SYS_getrlimit, SYS_lstat,    SYS_open,
                                         SYS_pause,  SYS_poll,      SYS_readlink, SYS_setrlimit,
                                         SYS_stat,   SYS_time};
#else
constexpr Calls older_forms;
#endif

/// Leaves this process the system calls that a compiler needs: it reads files, uses memory, starts
/// threads, and talks on sockets that are open. All others fail with ENOSYS, among them those that
/// open a socket, start a program or reach another process. Needs PR_SET_NO_NEW_PRIVS. It can't be
/// undone, and does nothing where the kernel has no seccomp or the CPU is not x86-64 or aarch64.
void restrict_system_calls() {
    using Filter = SystemCallFilter;
    if (Filter::architecture == 0) return;
    Filter filter;
    for (const Calls calls :
         std::initializer_list<Calls>{of_files, of_memory, of_open_sockets, of_threads, of_signals,
                                      of_time_and_facts, older_forms})
        for (const std::uint32_t call : calls) filter.set(call, Filter::allowed);
    const auto allow_if = [&](std::uint32_t call, std::uint16_t comparison, std::uint32_t value) {
        filter.set_if(call, 0, comparison, value, Filter::allowed, Filter::refused);
    };
    allow_if(SYS_clone, BPF_JSET, CLONE_THREAD);
    allow_if(SYS_prlimit64, BPF_JEQ, 0);  // only the limits of this process
    allow_if(SYS_tgkill, BPF_JEQ, std::uint32_t(::getpid()));
    const sock_fprog program = filter.program(Filter::refused);
    ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
}

namespace fs = std::filesystem;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#elif defined(__has_feature)
constexpr bool sanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool sanitized = false;
#endif

/// The absolute folders of LD_LIBRARY_PATH.
std::vector<std::string> library_folders() {
    std::vector<std::string> found;
    const std::string folders = compiler::environment("LD_LIBRARY_PATH");
    for (std::string_view left = folders; !left.empty();) {
        const std::size_t end = std::min(left.find(':'), left.size());
        if (left.starts_with('/')) found.emplace_back(left.substr(0, end));
        left.remove_prefix(std::min(end + 1, left.size()));
    }
    return found;
}

void restrict_files(const std::vector<fs::path>& readable) {
    LandlockRules rules(LandlockRules::Takes::all_rights);
    if (!rules.exist()) return;
    for (const fs::path& path : readable) rules.leave(path);
    for (const char* path : {"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache"})
        rules.leave(path);
    for (const std::string& path : library_folders()) rules.leave(path);
    rules.restrict_thread();
}

/// Lowers a limit. A limit that is already lower stays.
void lower(__rlimit_resource_t which, rlim_t most) {
    rlimit now{};
    if (::getrlimit(which, &now) != 0) return;
    now.rlim_max = std::min(now.rlim_max, most);
    now.rlim_cur = std::min(now.rlim_cur, now.rlim_max);
    ::setrlimit(which, &now);
}

}  // namespace

void confine(const std::vector<fs::path>& readable) {
    if (sanitized) return;
    constexpr rlim_t address_space = rlim_t(4) << 30;
    lower(RLIMIT_AS, address_space);
    lower(RLIMIT_FSIZE, 0);
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    restrict_files(readable);
    restrict_system_calls();
}

std::vector<std::string> compiler_environment() {
    std::vector<std::string> kept;
    for (const char* const name : {"HOME", "XDG_DATA_HOME", "CUDA_HOME", "CUDA_PATH",
                                   "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"})
        if (std::getenv(name)) kept.push_back(fmt::format("{}={}", name, std::getenv(name)));
    if (const std::vector<std::string> folders = library_folders(); !folders.empty())
        kept.push_back(fmt::format("LD_LIBRARY_PATH={}", fmt::join(folders, ":")));
    return kept;
}

void limit_cpu_time(std::chrono::seconds more) {
    rlimit limit{};
    rusage used{};
    if (::getrlimit(RLIMIT_CPU, &limit) != 0 || ::getrusage(RUSAGE_SELF, &used) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    // The kernel counts whole seconds; the parts of two seconds make less than two.
    const auto seconds = used.ru_utime.tv_sec + used.ru_stime.tv_sec + 2 + more.count();
    if (more.count() > 0) limit.rlim_cur = std::min(limit.rlim_max, rlim_t(seconds));
    ::setrlimit(RLIMIT_CPU, &limit);
}

}  // namespace warpscope::compute
