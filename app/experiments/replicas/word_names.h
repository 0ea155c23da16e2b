#pragma once

#include "emulator/witness/witness_words.h"
#include "experiments/framework/experiment.h"

namespace warpscope::experiments {

/// Names the words of an experiment's results as people see them: "pixel (35, 41)", with the
/// channels of its colours that differ, or "y[12]", with numbers of its type.
emulator::NameWord word_names(Experiment& experiment);

}  // namespace warpscope::experiments
