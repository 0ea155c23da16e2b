#pragma once

#include <filesystem>
#include <string>

#include "compute/device/device.h"
#include "experiments/framework/experiment.h"
#include "ui/stage/stage.h"
#include "ui/widgets/view_options.h"

namespace warpscope::ui {

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
