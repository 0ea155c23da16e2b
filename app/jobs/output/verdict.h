#pragma once

#include <string>

#include "emulator/judge.h"
#include "jobs/output/json.h"

namespace warpscope::jobs {

/// The exit status of a run that its time limit has ended before anything was found.
inline constexpr int no_verdict = 3;

/// 1 where something as severe as `from` was found or an error has ended a launch, `no_verdict`
/// where that error is a time limit, else 0.
int exit_status(const emulator::Verdict& verdict, emulator::Severity from);

/// Adds "checks", "findings", "stopped", "timed_out" and "not_tried" to an object.
void add_verdict(Json& json, const emulator::Verdict& verdict, const emulator::CheckChoice& checks);
/// The findings, what was not tried, and the error, each line after "=========".
std::string verdict_text(const emulator::Verdict& verdict, const emulator::CheckChoice& checks);

/// The findings as a log in the Static Analysis Results Interchange Format (OASIS SARIF 2.1.0),
/// which GitHub and editors read: a rule for each kind of finding, a result for each finding, in
/// their order. The place of a race is its read; the other access is a related location.
/// `complete`: false where a signal has ended the run.
Json sarif(const emulator::Verdict& verdict, bool complete);

}  // namespace warpscope::jobs
