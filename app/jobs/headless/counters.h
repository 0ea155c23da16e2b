#pragma once

#include <string>
#include <vector>

#include "emulator/checks/access_counters.h"
#include "jobs/output/json.h"

namespace warpscope::jobs {

/// [{kernel, launches, blocks, warp_instructions, thread_instructions, barriers,
/// global: {loads: {requests, bytes, sectors}, stores, atomics},
/// shared: {loads: {requests, bytes, wavefronts, least_wavefronts, degree}, stores, atomics}}, …];
/// what each figure counts: emulator::MemoryCounts.
Json to_json(const std::vector<emulator::KernelCounters>& counters);

/// A line for each kernel, and under it one for each kind of access that it has.
std::string counters_text(const std::vector<emulator::KernelCounters>& counters);

}  // namespace warpscope::jobs
