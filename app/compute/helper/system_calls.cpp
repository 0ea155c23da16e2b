#include "compute/helper/system_calls.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

namespace warpscope::compute {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t architecture = 0;
#endif

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

/// A program that the kernel executes at each system call: see linux/filter.h.
class Filter {
  public:
    Filter() {
        load(offsetof(seccomp_data, arch));
        skip_unless(BPF_JEQ, architecture, 1);
        skip(1);
        answer(refusal);
        load(offsetof(seccomp_data, nr));
    }
    void allow(std::uint32_t call) {
        skip_unless(BPF_JEQ, call, 1);
        answer(SECCOMP_RET_ALLOW);
    }
    /// Allows a call if its first argument compares so with `value`.
    void allow_if(std::uint32_t call, std::uint16_t comparison, std::uint32_t value) {
        skip_unless(BPF_JEQ, call, 4);
        load(offsetof(seccomp_data, args));
        skip_unless(comparison, value, 1);
        answer(SECCOMP_RET_ALLOW);
        answer(refusal);
    }
    /// Refuses all other calls, in every thread of this process.
    void install() {
        answer(refusal);
        const sock_fprog program{static_cast<unsigned short>(code_.size()), code_.data()};
        ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
    }

  private:
    // The answer of a kernel without the call: a library then makes an older one, if it can.
    static constexpr std::uint32_t refusal = SECCOMP_RET_ERRNO | ENOSYS;

    void load(std::uint32_t offset) { code_.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset)); }
    void skip(std::uint32_t steps) { code_.push_back(BPF_STMT(BPF_JMP | BPF_JA, steps)); }
    void skip_unless(std::uint16_t comparison, std::uint32_t value, std::uint8_t steps) {
        code_.push_back(BPF_JUMP(std::uint16_t(BPF_JMP | comparison | BPF_K), value, 0, steps));
    }
    void answer(std::uint32_t what) { code_.push_back(BPF_STMT(BPF_RET | BPF_K, what)); }

    std::vector<sock_filter> code_;
};

}  // namespace

void restrict_system_calls() {
    if (architecture == 0) return;
    Filter filter;
    for (const Calls calls :
         std::initializer_list<Calls>{of_files, of_memory, of_open_sockets, of_threads, of_signals,
                                      of_time_and_facts, older_forms})
        for (const std::uint32_t call : calls) filter.allow(call);
    filter.allow_if(SYS_clone, BPF_JSET, CLONE_THREAD);
    filter.allow_if(SYS_prlimit64, BPF_JEQ, 0);  // only the limits of this process
    filter.allow_if(SYS_tgkill, BPF_JEQ, std::uint32_t(::getpid()));
    filter.install();
}

}  // namespace warpscope::compute
