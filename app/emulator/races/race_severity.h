#pragma once

#include "emulator/races/race_report.h"

namespace warpscope::emulator {

/// Decides whether a race is an error, a warning or a note. A race of equal values is a note,
/// because its order changes no result. A hazard in a warp is a warning, because most GPUs run its
/// lanes in step. That does not help an update: lanes in step read one value and store one result.
/// Nor does it help different values that one instruction stores to a word.
inline Severity race_severity(const Conflict& conflict, const Access& later) {
    if (conflict.same_value) return Severity::note;
    const bool one_warp = conflict.earlier.warp == later.warp;
    const bool in_step =
        one_warp && !conflict.is_update && !conflict.one_instruction && !conflict.is_of_copy();
    return in_step ? Severity::warning : Severity::error;
}

}  // namespace warpscope::emulator
