#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/observe/findings.h"

namespace warpscope::programs {

/// A place in the code of the program that has called the library; 0: unknown.
using CallSite = std::uint32_t;

/// A call of the program that was running.
struct HostFrame {
    std::string file;           ///< the program or library
    std::uint64_t address = 0;  ///< in that file
};

/// What a program did wrong outside of its kernels, at places whose lines are not known yet.
struct HostReport {
    struct Entry {
        emulator::FindingKind kind{};
        emulator::Severity severity{};
        CallSite site = 0;
        std::string sentence;  ///< with marks for places
        std::uint64_t count = 1;
        CallSite other = 0;  ///< of a race: the later access
        emulator::Hazard hazard = emulator::Hazard::none;
    };
    std::vector<Entry> entries;
    std::map<CallSite, std::vector<HostFrame>> sites;  ///< the innermost call first
    /// Functions whose places count as places in their callers: nvcc writes a function of the host
    /// for each kernel, with the kernel's name.
    std::set<std::string> skipped;
};

/// Stands for a place in a sentence of a HostReport.
std::string mark(CallSite site);
/// The places whose marks are in the sentence.
std::vector<CallSite> sites_in(const std::string& sentence);

/// Whether a file is of the system or of the CUDA Toolkit, whose calls are those of the code that
/// uses them.
bool is_of_system(std::string_view file);

/// Returns the findings with the lines of the host. addr2line of the GNU binutils reads debug
/// information; without it, places are addresses.
std::vector<emulator::Finding> findings_of(const HostReport& report);

}  // namespace warpscope::programs
