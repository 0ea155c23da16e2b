#pragma once

#include <stop_token>

#include "emulator/witness/access_watch.h"
#include "experiments/replicas/specimen.h"

namespace warpscope::experiments {

/// Judges words of the memory of a specimen by what is known of its results. Null: nothing is known
/// of this launch, or no more than what it has left in a program. It is valid as long as the
/// specimen.
emulator::JudgeWord expected_words(Specimen& specimen, const LaunchState& state,
                                   const std::stop_token& stop);

}  // namespace warpscope::experiments
