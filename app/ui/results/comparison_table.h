#pragma once

#include "experiments/framework/report.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// Draws the variants of an experiment side by side: by their counts where the emulator has run
/// them, by their times on a GPU, with each number as a multiple of the first variant's.
void draw_comparison_table(Ui& ui, const experiments::Comparison& table);

}  // namespace warpscope::ui
