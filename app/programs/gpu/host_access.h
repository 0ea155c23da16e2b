#pragma once

namespace warpscope::programs {

/// Has accesses of the host to memory of the device reported, which DeviceMemory::guard() makes end
/// in SIGSEGV. To be called again before work runs: a program may set a handler of its own.
void watch_host_accesses();

/// Ends the emulated GPU after such an access, which then ends the program.
extern void (*end_after_host_access)();

}  // namespace warpscope::programs
