#pragma once

#include <vector>

#include "emulator/fast_paths/compiled/plan/variables.h"

namespace warpscope::emulator {

/// Where the variables of a kernel are written, and where they are still needed. All are sets of
/// variables' numbers, by unit.
struct Liveness {
    Liveness(const Units& units, const Variables& variables);

    std::vector<NumberSet> writes;  ///< the unit writes them, in some lanes at least
    std::vector<NumberSet> live;  ///< the unit, or one behind it, reads them before it writes them
    /// Compiled code may have written them before the unit, since it has begun.
    std::vector<NumberSet> written;
};

}  // namespace warpscope::emulator
