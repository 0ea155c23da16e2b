#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "emulator/counters/kernel_counters.h"
#include "emulator/observe/findings.h"
#include "programs/report/host_report.h"

namespace warpscope::programs {

/// The launches of one kernel.
struct KernelLaunches {
    std::uint64_t launches = 0;
    double seconds = 0;
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
    bool emulated = true;   ///< false: the launches were recorded on a GPU
    bool has_lines = true;  ///< false: some kernel came without line information
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
