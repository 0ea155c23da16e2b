#pragma once

#include <string>
#include <vector>

#include "emulator/observe/findings.h"

namespace warpscope::jobs {

/// Returns a text as compute-sanitizer prints it: one paragraph for each finding, then a summary
/// line with the names of the checks.
std::string findings_text(const std::vector<emulator::Finding>& findings,
                          const std::vector<std::string>& checks);

}  // namespace warpscope::jobs
