#pragma once

#include <string>
#include <vector>

#include "compute/device/kernel_files.h"
#include "compute/device/kernel_timings.h"
#include "emulator/counters/access_counters.h"
#include "emulator/judge.h"

namespace warpscope::experiments {

/// Replaces names of kernel files and of their headers by the paths that the user gave
/// ("kernels/ripple.cu:8" becomes "my.cu:8"), and names of kernels by those in the source.
std::string as_named(std::string words, const compute::KernelEdits& edits);
files::Sentence as_named(files::Sentence words, const compute::KernelEdits& edits);
/// as_named(), and names the sources of a program as the program does, not by their copies in a
/// capture: "steps.cu:9".
files::Sentence as_shown(files::Sentence words, const compute::KernelEdits& edits);
std::vector<emulator::Finding> as_named(std::vector<emulator::Finding> findings,
                                        const compute::KernelEdits& edits);
emulator::Verdict as_named(emulator::Verdict verdict, const compute::KernelEdits& edits);
/// Gives kernels the names that they have in the source.
void name_kernels(std::vector<compute::KernelTiming>& timings,
                  std::vector<emulator::KernelCounters>& counters,
                  const compute::KernelEdits& edits);

}  // namespace warpscope::experiments
