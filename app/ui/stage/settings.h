#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "compute/device/device.h"
#include "experiments/framework/experiment.h"

namespace warpscope::ui {

/// Parameters by experiment id, as texts.
using ParameterTexts = std::map<std::string, std::vector<experiments::Assignment>>;

/// What a person can choose about the view. Sizes in logical pixels.
struct ViewOptions {
    bool vsync = true;
    bool grid = false;
    float left = 320;                    ///< width of the controls
    float right = 320;                   ///< width of the results
    float bottom = 190;                  ///< height of the dock
    std::string dock = "timings";        ///< its tab
    std::string dock_open = "timeline";  ///< the same while the microscope is open
    bool inspect = true;                 ///< check what is on show after each change
    bool editor = false;                 ///< the kernel's source stands where the results do
    float editor_width = 640;
    std::string kernel_path;  ///< that a kernel was opened from or saved to last
};

/// What the window remembers from one run to the next.
struct Settings {
    experiments::Size window{1280, 720};  ///< logical pixels
    std::string experiment;               ///< empty: the first
    std::string device = "auto";
    compute::RunSettings run;
    ViewOptions view;
    ParameterTexts parameters;
};

struct LoadedSettings {
    Settings settings;
    std::string
        complaint;  ///< a sentence where the file is damaged; then settings are the defaults
};

/// $XDG_CONFIG_HOME/warpscope/settings.json or ~/.config/…; empty where neither is known.
std::filesystem::path settings_file();

/// A missing file gives the defaults without complaint.
LoadedSettings load_settings(const std::filesystem::path& file);

/// Whole or not at all. Throws std::runtime_error where the file can't be written.
void save_settings(const std::filesystem::path& file, const Settings& settings);

}  // namespace warpscope::ui
