#pragma once

#include <map>
#include <string>
#include <vector>

#include "emulator/judge.h"
#include "jobs/output/json.h"
#include "jobs/output/known_findings.h"
#include "programs/report/program_report.h"

namespace warpscope::jobs {

/// What a program and the processes that it has started have done.
struct ProgramResult {
    std::vector<std::string> command;
    int exit_status = 0;  ///< of the program
    int signal = 0;       ///< that has ended the program; 0: none
    emulator::CheckChoice checks;
    bool counted = false;     ///< counters were requested
    bool with_forms = false;  ///< ProgramRequest::with_forms
    std::vector<programs::ProgramReport> processes;
    /// Where the program was when its time limit ended it; empty: it has ended by itself.
    std::string stopped;
    bool confined = false;
    std::vector<std::string> refused;  ///< what confinement has refused

    Known known{};  ///< of the findings of verdict()

    emulator::Verdict verdict() const;  ///< of all processes
};

/// Kernels get their names in the source ("sum<256>"), and files below `folder` paths from there.
void make_readable(programs::ProgramReport& report, const std::string& folder);

Json to_json(const ProgramResult& result);
/// Kernels with their launches and times, notes, counters, and the verdict.
std::string summary(const ProgramResult& result);

}  // namespace warpscope::jobs
