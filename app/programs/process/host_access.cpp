// Accesses of the host to memory of the device: they end in SIGSEGV, as with a GPU, and with the
// memory check the report says where.
#include <ucontext.h>

#include <csignal>

#include "programs/gpu/gpu.h"
#include "programs/process/ending.h"

namespace warpscope::programs {

namespace {

struct sigaction earlier {};

/// Reports the access, and lets the instruction run again without this handler.
void on_fault(int, siginfo_t* info, void* context) {
    const auto address = reinterpret_cast<std::uint64_t>(info->si_addr);
    // Functions of this library may access what the program hands to them.
    if (is_in_call && gpu().memory().find(address)) return gpu().memory().open();
    const greg_t* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    constexpr greg_t write_bit = 2;  // of the processor's error code
    {
        const Call held;
        const auto* const instruction = reinterpret_cast<const void*>(registers[REG_RIP]);
        if (gpu().report_host_access(address, instruction, registers[REG_ERR] & write_bit))
            finish(128 + SIGSEGV);
    }
    sigaction(SIGSEGV, &earlier, nullptr);
}

__attribute__((constructor)) void watch_host_accesses() {
    if (!ProgramSettings::from_environment().checks.memory) return;
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGSEGV, &action, &earlier);
}

}  // namespace
}  // namespace warpscope::programs
