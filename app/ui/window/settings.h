#pragma once

#include <filesystem>
#include <string>

#include "compute/device/device.h"
#include "experiments/framework/experiment.h"
#include "ui/stage/stage.h"
#include "ui/widgets/view_options.h"

namespace warpscope::ui {

/// The state that the window remembers from one run to the next.
struct Settings {
    experiments::Size window{1600, 900};  ///< logical pixels
    std::string experiment;               ///< id; empty: the first experiment
    std::string launch;                   ///< Entry::launch_file of an experiment "launch"
    std::string device = "auto";
    compute::RunSettings run;
    ViewOptions view;
    experiments::Assignments parameters;
};

struct LoadedSettings {
    Settings settings;
    std::string
        /// Says that the file is damaged and the settings are the defaults; empty: it is not.
        complaint;
};

/// $XDG_CONFIG_HOME/warpscope/settings.json, or ~/.config/warpscope/settings.json without that
/// variable; empty if neither variable is set.
std::filesystem::path settings_file();

/// Reads the settings; a missing file gives the defaults without a complaint.
LoadedSettings load_settings(const std::filesystem::path& file);

/// Writes the settings, whole or not at all. Throws std::runtime_error if the file can't be
/// written.
void save_settings(const std::filesystem::path& file, const Settings& settings);

}  // namespace warpscope::ui
