#pragma once

#include <string>

#include "emulator/stepper/stepper.h"
#include "ui/microscope/microscope.h"

namespace warpscope::ui {

/// "at line 76"; "waits at the barrier, line 68"; "split: 12 lanes at line 70, 20 wait at line 74";
/// "has ended". Not `whole`: as short as can be understood, "waits, line 68", "split: 70, 74".
std::string warp_words(const emulator::Kernel& kernel, const emulator::WarpView& view, bool whole);

/// A lane's thread and what it does: "lane 5, thread (5, 6): waits at the barrier, line 68".
std::string lane_words(const Microscope& microscope, unsigned warp, unsigned lane);

/// Whether a step of this warp would do something.
bool can_run(const emulator::WarpView& view);

}  // namespace warpscope::ui
