#pragma once

#include <optional>
#include <vector>

#include "emulator/observe/findings.h"
#include "jobs/output/json.h"

namespace warpscope::jobs {

/// {sentence, preemptions, turns, schedule}, the last two of an order that was found.
Json to_json(const std::optional<emulator::WitnessWords>& witness);
/// {sentence, launches, wrong, wrong_delayed}
Json to_json(const std::optional<emulator::Provocation>& provocation);

/// [{kind, severity, kernel, hazard, first, second, address, count, repaired_too, witness,
/// provocation, sentence}, …]; `first` and `second` are {file, line, thread: [x, y, z], block: [x,
/// y, z]}; for a race, `first` is the earlier access. Fields without a value are null.
Json to_json(const std::vector<emulator::Finding>& findings);

}  // namespace warpscope::jobs
