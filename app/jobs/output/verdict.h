#pragma once

#include <optional>
#include <string>

#include "emulator/judge.h"
#include "jobs/output/json.h"
#include "jobs/output/known_findings.h"

namespace warpscope::jobs {

/// The exit status of a run that its time limit has ended before anything was found.
inline constexpr int no_verdict = 3;

/// 1 where something as severe as `from` was found that is neither known nor suppressed, or an
/// error has ended a launch, `no_verdict` where that error is a time limit, else 0. A launch that
/// ends by a known finding is known too.
int exit_status(const emulator::Verdict& verdict, emulator::Severity from, const Known& known = {});

/// Adds "checks", "findings", "unmatched", "stopped", "timed_out" and "not_tried" to an object.
void add_verdict(Json& json, const emulator::Verdict& verdict, const emulator::CheckChoice& checks,
                 const Known& known = {});
/// The findings that are neither known nor suppressed, the counts of all, what was not tried, and
/// the error, each line after "=========".
std::string verdict_text(const emulator::Verdict& verdict, const emulator::CheckChoice& checks,
                         const Known& known = {});

/// The findings as a log in the Static Analysis Results Interchange Format (OASIS SARIF 2.1.0),
/// which GitHub and editors read: a rule for each kind of finding, a result for each finding, in
/// their order. The place of a race is its read; the other access is a related location.
/// `complete`: false where a signal has ended the run.
Json sarif(const emulator::Verdict& verdict, bool complete, const Known& known = {});

/// The findings as JUnit's XML, which GitLab and others show: a test case for each finding, which
/// fails from the severity `from` on (nullopt: none does) and is skipped where it is known or
/// suppressed, and one for the run.
std::string junit(const emulator::Verdict& verdict, const emulator::CheckChoice& checks,
                  std::optional<emulator::Severity> from, const Known& known);

/// Throws UsageError for a file that can't be read or written.
void check_files(const FindingFiles& files);
/// Writes what `files` asks for. Throws std::runtime_error.
void write_findings(const FindingFiles& files, const emulator::Verdict& verdict,
                    const emulator::CheckChoice& checks, std::optional<emulator::Severity> from,
                    const Known& known, bool complete);

}  // namespace warpscope::jobs
