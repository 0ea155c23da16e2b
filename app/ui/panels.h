#pragma once

#include "ui/interface.h"

namespace warpscope::ui {

// Each panel draws itself into the current ImGui child window and records its widgets.

void draw_top_bar(Interface& ui);     ///< experiments, device, vsync, screenshots
void draw_controls(Interface& ui);    ///< parameters, device, math, schedule
void draw_transport(Interface& ui);   ///< pause, single frame, reset; fit, 1:1, grid
void draw_picture(Interface& ui);     ///< the canvas with the experiment's pixels
void draw_tree(Interface& ui);        ///< one block's shared array, a row per barrier
void draw_results(Interface& ui);     ///< the report
void draw_comparison(Interface& ui);  ///< variants side by side
void draw_timings(Interface& ui);     ///< kernels, frame time
void draw_message(Interface& ui);     ///< the line at the foot
void draw_keys(Interface& ui);        ///< the list of keys, when asked for

}  // namespace warpscope::ui
