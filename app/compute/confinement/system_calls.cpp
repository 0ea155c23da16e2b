#include "compute/confinement/system_calls.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <initializer_list>
#include <span>

#include "compute/confinement/system_call_filter.h"

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

}  // namespace

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

}  // namespace warpscope::compute
