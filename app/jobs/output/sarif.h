#pragma once

#include "emulator/judge.h"
#include "jobs/output/json.h"

namespace warpscope::jobs {

/// The findings as a log in the Static Analysis Results Interchange Format (OASIS SARIF 2.1.0),
/// which GitHub and editors read: a rule for each kind of finding, a result for each finding, in
/// their order. The place of a race is its read; the other access is a related location.
/// `complete`: false where a signal has ended the run.
Json sarif(const emulator::Verdict& verdict, bool complete);

}  // namespace warpscope::jobs
