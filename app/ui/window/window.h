#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "compute/helper/helpers.h"
#include "ui/microscope/microscope.h"
#include "ui/window/settings.h"

namespace warpscope::ui {

/// What the command line says about the window; whatever it leaves open is remembered from the
/// last run.
struct WindowOptions {
    std::optional<std::string> device;
    std::optional<compute::RunSettings> run;
    std::string experiment;      ///< empty: the one of the last run
    ParameterTexts assignments;  ///< by experiment; they stand before remembered ones
    std::optional<experiments::Size> size;
    std::optional<bool> vsync;
    std::optional<MicroscopePlace> microscope;  ///< opened there at the first frame
    std::filesystem::path kernels;  ///< a folder whose .cu files stand in for kernels; empty: none
    std::filesystem::path kernel_source;  ///< a file for the experiment's own; empty: none
    /// Where edited kernels are compiled and run; null: they are not. It outlives the window.
    compute::Helpers* helpers = nullptr;
    std::filesystem::path widget_map;                  ///< written for end-to-end tests; empty: not
    std::filesystem::path settings = settings_file();  ///< empty: nothing is remembered
};

/// Opens the window and runs it until it is closed; gives the exit code. Throws where the window
/// can't open, or the device or an assignment of the options can't be had.
int run_window(const WindowOptions& options);

}  // namespace warpscope::ui
