#pragma once

#include "emulator/compiled/plan/tight_loops.h"

namespace warpscope::emulator {

/// Chooses where each variable lies.
void choose_places(const Units& units, const Liveness& liveness, const TightLoops& loops,
                   Variables& variables);

}  // namespace warpscope::emulator
