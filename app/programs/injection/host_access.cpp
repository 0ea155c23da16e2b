// Accesses of the host to memory of the device, which DeviceMemory::guard() makes end in SIGSEGV.
#include <ucontext.h>

#include <csignal>

#include "programs/gpu/gpu.h"
#include "programs/injection/ending.h"

namespace warpscope::programs {

namespace {

struct sigaction earlier {};

/// Lets work that runs access memory of the device. Reports an access of the host, and leaves it to
/// the earlier handler: the instruction runs again.
void on_fault(int, siginfo_t* info, void* context) {
    const auto address = reinterpret_cast<std::uint64_t>(info->si_addr);
    if (gpu().memory().open(address)) return;
    const greg_t* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    constexpr greg_t write_bit = 2;  // of the processor's error code
    const auto* const instruction = reinterpret_cast<const void*>(registers[REG_RIP]);
    const Call held;
    if (gpu().report_host_access(address, instruction, registers[REG_ERR] & write_bit)) finish(1);
    sigaction(SIGSEGV, &earlier, nullptr);
}

void watch() {
    struct sigaction now {};
    sigaction(SIGSEGV, nullptr, &now);
    if (now.sa_sigaction == on_fault) return;
    earlier = now;
    now = {};
    now.sa_sigaction = on_fault;
    // The work that ends the program needs this handler while it runs.
    now.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigaction(SIGSEGV, &now, nullptr);
}

const bool is_watching = [] {
    watch_host_accesses = watch;
    return true;
}();

}  // namespace
}  // namespace warpscope::programs
