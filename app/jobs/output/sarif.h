#pragma once

#include <vector>

#include "emulator/observe/findings.h"
#include "jobs/output/json.h"

namespace warpscope::jobs {

/// The findings as a log in the Static Analysis Results Interchange Format (OASIS SARIF 2.1.0),
/// which GitHub and editors read: a rule for each kind of finding, a result for each finding, in
/// their order. The place of a race is its read; the other access is a related location.
/// `complete`: false where a signal has ended the run. `error`: has ended it; empty: none.
Json sarif(const std::vector<emulator::Finding>& findings, bool complete,
           const std::string& error = {});

}  // namespace warpscope::jobs
