#pragma once

#include <map>
#include <string>
#include <vector>

#include "jobs/headless/check_request.h"
#include "jobs/output/json.h"
#include "programs/report/program_report.h"

namespace warpscope::jobs {

/// What a program and the processes that it has started have done.
struct ProgramResult {
    std::vector<std::string> command;
    int exit_status = 0;  ///< of the program
    Checks checks;
    bool counted = false;  ///< counters were requested
    std::vector<programs::ProgramReport> processes;
    /// Where the program was when its time limit ended it; empty: it has ended by itself.
    std::string stopped;
    bool confined = false;
    std::vector<std::string> refused;  ///< what confinement has refused

    std::vector<emulator::Finding> findings() const;  ///< of all processes
    std::string first_error() const;                  ///< empty: none
};

/// Kernels get their names in the source ("sum<256>"), and files below `folder` paths from there.
void make_readable(programs::ProgramReport& report, const std::string& folder);

Json to_json(const ProgramResult& result);
/// Kernels with their launches and times, notes, counters, and findings as findings_text() has
/// them.
std::string summary(const ProgramResult& result);
/// Whether the checks have found something from `severity` on, or wrong calls of the program.
bool has_found(const ProgramResult& result, emulator::Severity severity);

}  // namespace warpscope::jobs
