#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace warpscope::compute {

/// Takes rights from this process, which compiles texts of unknown origin and does not need them.
/// The process gets at most 4 GiB of address space, no file grows, and no program that it starts
/// has more rights. Where the kernel has Landlock (Linux 5.13 and newer), it only reads, and only
/// below these folders and those of the dynamic loader. Where it has seccomp, the process opens no
/// socket, starts no program and reaches no other process. It can't be undone. A build with a
/// sanitizer is not confined: sanitizers need more.
void confine(const std::vector<std::filesystem::path>& readable);

/// The variables that a process for the compiler gets, as "NAME=value": those that the search for
/// NVRTC and the sanitizers need. Relative folders are left out.
std::vector<std::string> compiler_environment();

/// Ends this process by SIGXCPU when it has used this much more CPU time. 0: no limit.
void limit_cpu_time(std::chrono::seconds more);

}  // namespace warpscope::compute
