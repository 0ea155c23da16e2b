#pragma once

#include <stop_token>

#include "emulator/witness/access_watch.h"
#include "emulator/witness/witness_words.h"
#include "experiments/framework/experiment.h"
#include "experiments/replicas/specimen.h"

namespace warpscope::experiments {

/// Names the words of an experiment's results as people see them: "pixel (35, 41)", with the
/// channels of its colours that differ, or "y[12]", with numbers of its type.
emulator::NameWord word_names(Experiment& experiment);

/// Judges words of the memory of a specimen by what is known of its results. Null: nothing is known
/// of this launch, or no more than what it has left in a program. It is valid as long as the
/// specimen.
emulator::JudgeWord expected_words(Specimen& specimen, const LaunchState& state,
                                   const std::stop_token& stop);

}  // namespace warpscope::experiments
