#pragma once

#include <vector>

#include "emulator/fast_paths/compiled/plan/liveness.h"

namespace warpscope::emulator {

/// The loops that have no other loop within, and in which compiled code does not end.
struct TightLoops {
    TightLoops(const Units& units, const Variables& variables, const Liveness& liveness);

    std::vector<std::uint32_t> around;  ///< by unit: the number of the loop; 0: none
    std::vector<NumberSet> written;     ///< by loop: the numbers of the variables that it writes
};

/// Chooses where each variable lies.
void choose_places(const Units& units, const Liveness& liveness, const TightLoops& loops,
                   Variables& variables);

}  // namespace warpscope::emulator
