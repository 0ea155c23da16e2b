#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compute/device/occupancy.h"
#include "experiments/measure/kernel_figures.h"

namespace warpscope::ui {

/// The side panel that lies over the picture of a narrow window.
enum class Drawer { none, controls, results };

/// What a person wants of a source that has a main().
enum class ProgramAnswer {
    kernels,   ///< to see its kernels, without running it
    confined,  ///< to run it confined
    run,
};

/// To what the picture has invited somebody new. `to_switch_on`: to nothing yet, and the barrier
/// was off at the start.
enum class Invited { to_switch_on = -1, to_nothing, to_the_switch, to_all };

/// What is being recorded.
enum class Recorded { none, window, picture };

/// The sizes that a person can choose, in percent.
inline constexpr int percents[] = {75, 90, 100, 110, 125, 150, 175, 200, 225, 250};

/// What a person can choose about the window, remembered from one run to the next. Sizes are in
/// logical pixels.
struct ViewOptions {
    bool vsync = true;
    bool grid = false;                   ///< draw the borders of the thread blocks
    float left = 300;                    ///< width of the controls
    float right = 300;                   ///< width of the results
    float bottom = 0;                    ///< height of the open dock; 0: dock_needs
    float dock_needs = 190;              ///< height that its tabs need; not remembered
    bool dock_folded = true;             ///< only the tabs and one line of timings
    std::string dock = "timings";        ///< the dock's tab while the microscope is closed
    std::string dock_open = "timeline";  ///< the dock's tab while the microscope is open
    bool inspect = true;                 ///< check the launch after each change
    bool editor = false;                 ///< the editor stands in the place of the results
    float editor_width = 640;
    /// Groups of parameters that a person has folded (true) or opened: "ripple.Camera".
    std::map<std::string, bool> folds;
    /// The figure that sorts the source lines and stands beside them. Not remembered.
    experiments::LineFigure figure = experiments::LineFigure::instructions;
    compute::OccupancyWish occupancy;  ///< not remembered
    Drawer drawer = Drawer::none;      ///< not remembered
    bool hide_controls = false, hide_results = false;
    int percent = 100;                  ///< the size of everything
    bool light = false;                 ///< the light theme
    std::string language;               ///< LanguageName::code; empty: the locale's
    bool presentation = false;          ///< not remembered
    bool second_window = false;         ///< the picture is in a second one, too; not remembered
    bool marks = false;                 ///< a halo of the pointer, and the keys that are pressed
    Recorded records = Recorded::none;  ///< not remembered
    /// So far; not remembered. Frames are dropped while compressing them takes too long.
    std::uint64_t recorded_seconds = 0, dropped_frames = 0, recorded_bytes = 0;
    bool records_mp4 = false;          ///< else an animated PNG; not remembered
    std::uint64_t record_seconds = 0;  ///< after which a recording ends; 0: never; not remembered
    std::string maximized;  ///< the panel that fills the window; empty: none does; not remembered
    bool lessons = false;   ///< the column of the lessons is on show; not remembered
    std::vector<std::string> lessons_passed;  ///< names of lessons
    bool tour_offered = false;
    Invited invited = Invited::to_all;
    std::string kernel_path;  ///< the file that a kernel was last opened from or saved to
    std::vector<std::string> recent_files;  ///< files that were opened, the newest first
    std::map<std::string, ProgramAnswer> program_answers;  ///< by the path of the source
};

}  // namespace warpscope::ui
