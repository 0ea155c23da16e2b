// Accesses of the host to memory of the device, and to memory that it may poll, which
// DeviceMemory::guard() and PolledMemory make end in SIGSEGV.
#include <ucontext.h>

#include <csignal>
#include <utility>

#include "programs/gpu/gpu.h"
#include "programs/injection/injection.h"

namespace warpscope::programs {

namespace {

struct sigaction earlier {
}, earlier_trap{};

constexpr greg_t single_step = 0x100;  // the trap flag of the processor
thread_local bool is_stepping = false;

/// Lets work that runs access memory of the device, and the host memory that is watched, for one
/// instruction. Reports another access of the host, and leaves it to the earlier handler: the
/// instruction runs again.
void on_fault(int, siginfo_t* info, void* context) {
    const auto address = reinterpret_cast<std::uint64_t>(info->si_addr);
    if (gpu().memory().open(address)) return;
    greg_t* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    const auto* const instruction = reinterpret_cast<const void*>(registers[REG_RIP]);
    constexpr greg_t write_bit = 2;  // of the processor's error code
    const bool writes = registers[REG_ERR] & write_bit;
    const auto access = gpu().polled().on_access(address);
    if (access == PolledMemory::Access::step) {
        is_stepping = true;
        registers[REG_EFL] |= single_step;
        gpu().on_host_access(address, instruction, writes);
    }
    if (access != PolledMemory::Access::other) return;
    if (gpu().settings().checks.memory) {
        const Call held;
        if (gpu().report_host_access(address, instruction, writes)) finish(1);
    }
    sigaction(SIGSEGV, &earlier, nullptr);
}

/// The instruction has run.
void on_step(int signal, siginfo_t* info, void* context) {
    if (std::exchange(is_stepping, false)) {
        static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] &= ~single_step;
        gpu().polled().end_step();
    } else if (earlier_trap.sa_flags & SA_SIGINFO) {
        earlier_trap.sa_sigaction(signal, info, context);
    } else if (earlier_trap.sa_handler != SIG_DFL && earlier_trap.sa_handler != SIG_IGN) {
        earlier_trap.sa_handler(signal);
    } else if (earlier_trap.sa_handler == SIG_DFL) {
        sigaction(SIGTRAP, &earlier_trap, nullptr);
        std::raise(SIGTRAP);
    }
}

void watch(int signal, void (*handler)(int, siginfo_t*, void*), struct sigaction& before) {
    struct sigaction now {};
    sigaction(signal, nullptr, &now);
    if (now.sa_sigaction == handler) return;
    before = now;
    now = {};
    now.sa_sigaction = handler;
    // The work that ends the program needs this handler while it runs.
    now.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigaction(signal, &now, nullptr);
}

const bool is_watching = [] {
    watch_host_accesses = [] {
        watch(SIGSEGV, on_fault, earlier);
        watch(SIGTRAP, on_step, earlier_trap);
    };
    return true;
}();

}  // namespace
}  // namespace warpscope::programs
