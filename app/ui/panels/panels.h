#pragma once

#include "ui/window/interface.h"

namespace warpscope::ui {

// Each panel draws itself into the current ImGui child window and records its widgets.

void draw_top_bar(Interface& ui);      ///< experiments, device, vsync, screenshots
void draw_controls(Interface& ui);     ///< parameters, device, math, schedule
void draw_transport(Interface& ui);    ///< pause, single frame, reset; fit, 1:1, grid
void draw_picture(Interface& ui);      ///< the canvas with the experiment's pixels
void draw_tree(Interface& ui);         ///< one block's shared array, a row per barrier
void draw_results(Interface& ui);      ///< the report
void draw_comparison(Interface& ui);   ///< variants side by side
void draw_timings(Interface& ui);      ///< kernels, frame time
void draw_dock(Interface& ui);         ///< the lower edge: tabs of what follows and the timings
void refresh_measured(Interface& ui);  ///< asks the experiment for what its kernel timed
void draw_findings(Interface& ui);     ///< races and barriers, a sentence each
void draw_counters(Interface& ui);     ///< what the emulator counted, by kernel
void draw_timeline(Interface& ui);     ///< one block's warps over time
void draw_policies(Interface& ui);     ///< what each barrier policy does with the kernel
void draw_roofline(Interface& ui);     ///< every kernel under the ceilings of the device
void draw_message(Interface& ui);      ///< the line at the foot
void draw_keys(Interface& ui);         ///< the list of keys, when asked for

// Of the open microscope.
void draw_microscope_bar(Interface& ui);  ///< stepping, the block, who steps
void draw_source(Interface& ui);          ///< the kernel's text with the warps' places in it
void draw_warps(Interface& ui);           ///< every warp's state in words
void draw_registers(Interface& ui);       ///< of the lane that is looked at
void draw_tile(Interface& ui);            ///< shared memory as a grid
void draw_banks(Interface& ui);           ///< the newest shared access: lanes onto banks

}  // namespace warpscope::ui
