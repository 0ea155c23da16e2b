#pragma once

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string>

#include "experiments/framework/experiment.h"
#include "experiments/framework/metadata.h"
#include "ui/microscope/microscope.h"
#include "ui/stage/stage.h"

namespace warpscope::ui {

struct Screenshot {
    experiments::Size size;  ///< of the window; with view_only of a tree's picture
    bool view_only = false;  ///< the picture alone
    std::optional<MicroscopePlace> microscope{};  ///< open there; not with view_only
};

/// Draws the interface as the window does, or with view_only the picture alone (pixels as they
/// are, a tree at `size`), and writes a PNG with the settings in its metadata, whole or not at all.
/// Needs a current OpenGL context of any kind. Throws gl::Error or what the experiment throws.
void save_screenshot(Stage& stage, const Screenshot& shot, const std::filesystem::path& file);

/// How pixels came to OpenGL, and why in this way.
struct PixelPath {
    std::string path, reason;
};

/// Computes and renders frames of an experiment without a window, with 0 frames the current one
/// alone, and saves a screenshot of the last. Opens an OpenGL context for as long as it takes.
/// Throws what save_screenshot() throws.
PixelPath save_offscreen(const experiments::Entry& entry, experiments::Running running,
                         std::uint64_t frames, const Screenshot& shot,
                         const std::filesystem::path& file);

/// What the PNG of a whole window says, with the microscope open at `place` where there is one, or
/// `elsewhere`: where no command line opens it.
experiments::Metadata describe_window(experiments::Experiment& experiment,
                                      const experiments::Entry& entry, experiments::Size size,
                                      const std::optional<MicroscopePlace>& place,
                                      bool elsewhere = false);

/// Where screenshots go: the desktop's pictures folder if there is one, else the current folder.
std::filesystem::path screenshot_folder();

/// folder/warpscope-YYYYMMDD-HHMMSS.png for the local time; with -2, -3, … where that exists.
std::filesystem::path screenshot_path(const std::filesystem::path& folder, const std::tm& time);

}  // namespace warpscope::ui
