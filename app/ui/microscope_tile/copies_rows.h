#pragma once

#include <imgui.h>

#include <string>

#include "ui/microscope/microscope.h"
#include "ui/microscope_tile/tile_grid.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// What tells that a copy has landed: "group 2", "mbarrier at byte 64, phase 1".
std::string name_of(const emulator::CopyFlight& copy);
/// Describes the copy that is in flight to a word or has landed there: "in flight: 512 bytes,
/// started by warp 3 at a.cu:7, group 2". Empty where there is none.
std::string words_of_copy_to(const Microscope& microscope, const emulator::WordView& word);

/// Draws a disc for each mbarrier, with its phase and what it still expects, and a row for each
/// copy in flight, with a button that lands it. Nothing for kernels that have neither.
void draw_copies(Ui& ui, Microscope& microscope);

}  // namespace warpscope::ui
