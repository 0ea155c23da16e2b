#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "emulator/observe/findings.h"

namespace warpscope::programs {

/// [{kind, severity, kernel, hazard, first, second, address, count, repaired_too, witness,
/// provocation, sentence}, …]; `first` and `second` are {file, line, thread: [x, y, z], block: [x,
/// y, z]}; for a race, `first` is the earlier access. Fields without a value are null.
nlohmann::ordered_json findings_json(const std::vector<emulator::Finding>& findings);

}  // namespace warpscope::programs
