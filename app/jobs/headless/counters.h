#pragma once

#include <string>
#include <vector>

#include "emulator/counters/kernel_counters.h"
#include "experiments/measure/kernel_figures.h"
#include "jobs/output/json.h"

namespace warpscope::jobs {

/// [{kernel, launches, blocks, warp_instructions, thread_instructions, barriers,
/// separations, global: {loads: {requests, bytes, sectors, least_sectors}, stores, atomics},
/// shared: {loads: {requests, bytes, wavefronts, least_wavefronts, degree}, stores, atomics}}, …];
/// emulator::MemoryCounts says what each figure counts.
Json to_json(const std::vector<emulator::KernelCounters>& counters);

/// The source lines of each kernel, to be added to to_json(counters): [{file, line, text,
/// warp_instructions, thread_instructions, separations, global: {sectors, least_sectors},
/// shared: {wavefronts, least_wavefronts}}, …], sorted by a figure.
Json lines_json(const emulator::KernelCounters& kernel, experiments::LineFigure figure,
                const compute::KernelEdits& edits);

/// The arrays of a kernel, to be added to to_json(counters): [{name, space, begin, bytes,
/// parameter, runs: [{first, words, reads, writes, atomics, races, conflicts}, …]}, …]. `begin` is
/// an offset into shared memory, null for global memory; `parameter` counts from 0, null where
/// there is none. A run has the counts of each of its words, which begin with the index `first`;
/// `races` only where the race check ran.
Json heat_json(const emulator::KernelHeat& kernel, const compute::KernelEdits& edits);

/// One line for each kernel, followed by one line for each kind of access in it.
std::string counters_text(const std::vector<emulator::KernelCounters>& counters);

/// A table for each kernel: its source lines, the highest figure first.
std::string lines_text(const std::vector<emulator::KernelCounters>& counters,
                       experiments::LineFigure figure, const compute::KernelEdits& edits);

/// Returns the sums and the hottest words of each array of each kernel.
std::string heat_text(const std::vector<emulator::KernelHeat>& heat, emulator::HeatFigure figure,
                      const compute::KernelEdits& edits);

}  // namespace warpscope::jobs
