#pragma once

#include <string>

namespace warpscope::ui {

/// What a person can choose about the window, remembered from one run to the next. Sizes are in
/// logical pixels.
struct ViewOptions {
    bool vsync = true;
    bool grid = false;                   ///< draw the borders of the thread blocks
    float left = 320;                    ///< width of the controls
    float right = 320;                   ///< width of the results
    float bottom = 190;                  ///< height of the dock
    std::string dock = "timings";        ///< the dock's tab while the microscope is closed
    std::string dock_open = "timeline";  ///< the dock's tab while the microscope is open
    bool inspect = true;                 ///< check the launch after each change
    bool editor = false;                 ///< the editor stands in the place of the results
    float editor_width = 640;
    std::string kernel_path;  ///< the file that a kernel was last opened from or saved to
};

}  // namespace warpscope::ui
