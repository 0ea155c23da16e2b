#pragma once

#include <string>
#include <vector>

#include "emulator/machine/machine.h"
#include "emulator/witness/order_search.h"
#include "emulator/witness/schedule_file.h"

namespace warpscope::emulator {

/// "warp 3 runs to a.cu:74 before warp 4 has passed a.cu:68"; at one line also what they do.
std::string reversal_words(const Kernel& kernel, const Reversal& reversal,
                           const std::optional<LaunchShape>& together = {});
/// The order as a file: of `block`, or of all blocks that run together.
ScheduleFile schedule_of(const Kernel& kernel, const Dim3& grid, const Dim3& block,
                         const Witness& witness);
/// A sentence: what comes before what, and what the block then computes.
std::string witness_sentence(const Machine& machine, const Kernel& kernel, const Witness& witness,
                             const OrderSearch::Result& result);
/// The turns as a list, one line each: "warp 3 runs until it is before a.cu:74".
std::vector<std::string> turn_words(const ScheduleFile& order);
/// A sentence: which orders were run, and what was found in them.
std::string coverage_sentence(const Kernel& kernel, const OrderSearch& search,
                              const OrderSearch::Result& result);

}  // namespace warpscope::emulator
