#pragma once

#include <imgui.h>

#include <cstddef>
#include <vector>

#include "ui/microscope/microscope.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

inline constexpr ImU32 in_flight_colour = IM_COL32(64, 170, 255, 255);

/// Indices of the words of shared memory to which asynchronous copies are in flight, in ascending
/// order for each copy.
std::vector<std::size_t> words_in_flight(const emulator::Stepper& stepper);

/// Draws a disc for each mbarrier, with its phase and what it still expects, and a row for each
/// copy in flight, with a button that lands it. Nothing for kernels that have neither.
void draw_copies(Ui& ui, Microscope& microscope);

}  // namespace warpscope::ui
