#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "compute/helper/helpers.h"
#include "ui/language/language.h"
#include "ui/microscope/microscope.h"
#include "ui/stage/engine.h"
#include "ui/window/click_test.h"
#include "ui/window/settings.h"

namespace warpscope::ui {

/// The options of the command line for the window. Values not given are those of the last run.
struct WindowOptions {
    std::optional<std::string> device;
    std::optional<compute::RunSettings> run;
    std::string experiment;                ///< id; empty: the experiment of the last run
    experiments::Assignments assignments;  ///< they override remembered ones
    std::optional<experiments::Size> size;
    std::optional<bool> vsync;
    std::optional<Language> language;
    std::filesystem::path lesson;                ///< opened at the first frame; empty: none
    std::filesystem::path record;                ///< a recording from the first frame on; or empty
    std::optional<MicroscopePlace> microscope;   ///< opened at the first frame
    std::string notice;                          ///< an error that is said at the first frame
    std::filesystem::path kernels;               ///< a folder of .cu files to use; empty: none
    std::filesystem::path kernel_source;         ///< a file to use for the experiment; empty: none
    std::optional<launches::LaunchFile> launch;  ///< in place of an experiment
    /// Where edited kernels are compiled and run; null: they are not. It outlives the window.
    compute::Helpers* helpers = nullptr;
    Engine::Start::Pick pick;          ///< makes devices; null: as the engine does
    std::filesystem::path widget_map;  ///< file for end-to-end tests; empty: none
    ClickTest* clicks = nullptr;       ///< presses widgets until it is over; or null
    std::filesystem::path settings = settings_file();  ///< empty: nothing is remembered
};

/// The launch file at a path, with an absolute path of its own, or one of the gallery by its name.
/// Throws LaunchError.
launches::LaunchFile find_launch(const std::filesystem::path& path);

/// Opens the window and runs it until it is closed, or until SIGINT or SIGTERM, whose number it
/// returns; else 0. Throws where the window can't open, the device is not there or an assignment is
/// invalid.
int run_window(const WindowOptions& options);

}  // namespace warpscope::ui
