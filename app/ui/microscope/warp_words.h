#pragma once

#include <string>

#include "emulator/stepper/stepper.h"
#include "ui/microscope/microscope.h"

namespace warpscope::ui {

/// The state of a warp: "at line 76", "waits at the barrier, line 68", "split: 12 lanes at line 70,
/// 20 lanes wait to join, line 74", "waits for the mbarrier at byte 64, line 7", "has ended". With
/// `whole` false, in short form: "waits, line 68", "split: 70, 74".
std::string warp_words(const emulator::Stepper& stepper, std::uint32_t warp, bool whole);
/// What a warp waits for: "at the barrier", "for the mbarrier at byte 64".
std::string words_for(const emulator::BarrierWait& wait);

/// A lane, its thread and its state: "lane 5, thread (5, 6): waits at the barrier, line 68".
std::string lane_words(const Microscope& microscope, unsigned warp, unsigned lane);

/// Whether the warp has lanes that can run.
bool can_run(const emulator::WarpView& view);

}  // namespace warpscope::ui
