#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/counters/kernel_counters.h"
#include "emulator/observe/findings.h"

namespace warpscope::programs {

/// A place in the code of the program that has called the library; 0: unknown.
using CallSite = std::uint32_t;

/// A call of the program that was running.
struct HostFrame {
    std::string file;           ///< the program or library, or the script
    std::uint64_t address = 0;  ///< in the program or library
    int line = 0;               ///< of the script
};

/// What a program did wrong outside of its kernels, at places whose lines are not known yet.
struct HostReport {
    struct Entry {
        emulator::FindingKind kind{};
        emulator::Severity severity{};
        CallSite site = 0;
        files::Sentence sentence;  ///< with marks for places
        std::uint64_t count = 1;
        CallSite other = 0;  ///< of a race: the later access
        emulator::Hazard hazard = emulator::Hazard::none;
    };
    std::vector<Entry> entries;
    std::map<CallSite, std::vector<HostFrame>> sites;  ///< the innermost call first
    /// What the host did before a finding of a kernel, by its sentence: a sentence with marks.
    std::map<std::string, std::string> before;
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

/// Returns the findings of kernels, with what HostReport::before says of them, and then those of
/// the host, with its lines. addr2line of the GNU binutils reads debug information; without it,
/// places are addresses.
std::vector<emulator::Finding> findings_of(const HostReport& report,
                                           std::vector<emulator::Finding> of_kernels = {});

/// The launches of one kernel.
struct KernelLaunches {
    std::uint64_t launches = 0;
    double seconds = 0;
    std::uint64_t blocks = 0, watched = 0;  ///< of launches that checks have watched
};

/// What the emulated GPU has seen of one process.
struct ProgramReport {
    std::string command;  ///< of the process, its arguments separated by spaces
    std::map<std::string, KernelLaunches> kernels;
    std::vector<emulator::Finding> findings;
    HostReport host;  ///< read_report() makes findings of it
    /// What the program did wrong outside of kernels, and what the library could not do, as lines.
    std::vector<std::string> errors, notes;
    std::vector<std::string> not_tried;  ///< see emulator::Verdict
    /// Where the program was when its time limit ended it; empty: it has ended by itself.
    std::string stopped;
    std::vector<std::string> missing;  ///< functions that were called and that the library lacks
    /// False while the process runs: it was ended if there is no later report.
    bool has_ended = false;
    bool emulated = true;  ///< false: the launches were recorded on a GPU
    std::vector<emulator::KernelCounters> counters;
};

/// The command line of this process, its arguments separated by spaces.
std::string command_line();

/// Returns a file for a report of this process: the folder has none of the name. A process that
/// becomes another program has several.
std::filesystem::path new_report_file(const std::filesystem::path& folder);
/// Writes the report whole or not at all. Throws std::runtime_error.
void write_report(const ProgramReport& report, const std::filesystem::path& file);
/// Throws std::runtime_error for a file that is no report.
ProgramReport read_report(const std::filesystem::path& file);

}  // namespace warpscope::programs
