#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace warpscope::compute {

/// Takes from this process, which compiles texts of unknown origin, what that does not need. It
/// gets at most 4 GiB of address space, no file grows, and no program that it starts has more
/// rights. Where the kernel has Landlock (Linux 5.13 and newer), it only reads, and only below
/// these folders and those of the dynamic loader. Where it has seccomp, the process opens no
/// socket, starts no program and reaches no other process. It can't be undone. A build with a
/// sanitizer is not confined: sanitizers need more.
void confine(const std::vector<std::filesystem::path>& readable);

/// The variables that a process for the compiler gets, as "NAME=value": what the search for NVRTC
/// and sanitizers need. Relative folders are left out.
std::vector<std::string> compiler_environment();

/// Ends this process by SIGXCPU when it has used so much more CPU time. 0: no limit.
void limit_cpu_time(std::chrono::seconds more);

}  // namespace warpscope::compute
