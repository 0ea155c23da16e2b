#pragma once

#include <string>
#include <vector>

#include "emulator/checks/access_counters.h"
#include "jobs/output/json.h"

namespace warpscope::jobs {

/// [{kernel, launches, blocks, warp_instructions, thread_instructions, barriers,
/// global: {loads: {requests, bytes, sectors}, stores, atomics},
/// shared: {loads: {requests, bytes, wavefronts, least_wavefronts, degree}, stores, atomics}}, …];
/// emulator::MemoryCounts says what each figure counts.
Json to_json(const std::vector<emulator::KernelCounters>& counters);

/// One line for each kernel, followed by one line for each kind of access in it.
std::string counters_text(const std::vector<emulator::KernelCounters>& counters);

}  // namespace warpscope::jobs
