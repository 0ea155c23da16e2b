#pragma once

#include "ui/stage/stage.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// Draws the numbers at the axes of a buffer that is shown as a plot: its smallest and largest
/// number, and the first and last index. Beside few elements, their numbers. `low` and `high` are
/// corners of the plot. Nothing where the picture is no plot.
void draw_plot_labels(Ui& ui, const Stage& stage, ImVec2 low, ImVec2 high);

}  // namespace warpscope::ui
