#pragma once

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/framework/experiment.h"
#include "experiments/framework/metadata.h"
#include "ui/microscope/microscope.h"
#include "ui/stage/stage.h"

namespace warpscope::ui {

/// A screenshot: the contents and the size.
struct Screenshot {
    experiments::Size size;  ///< the window's; with view_only, the size of a tree's picture
    bool view_only = false;  ///< the picture alone
    std::optional<MicroscopePlace> microscope{};  ///< opens the microscope; not with view_only
};

/// The pixels of a screenshot (r, g, b, a, top row first) and what its file says about them.
struct ScreenshotImage {
    experiments::Size size;
    std::vector<std::uint8_t> rgba;
    experiments::Metadata metadata;
};

/// Draws what save_screenshot() writes.
ScreenshotImage take_screenshot(Stage& stage, const Screenshot& shot);

/// Draws the window or, with view_only, the picture alone (pixels in their own size, a tree at
/// `size`), and writes a PNG with the settings in its metadata. The file is written whole or not at
/// all. Needs a current OpenGL context of any kind. Throws gl::Error, or an error of the
/// experiment.
void save_screenshot(Stage& stage, const Screenshot& shot, const std::filesystem::path& file,
                     const experiments::Metadata& added = {});

/// The way in which pixels came to OpenGL, and the reason for it.
struct PixelPath {
    std::string path, reason;
};

/// Computes frames and calls `render` after each. Returns what the metadata say in addition.
using Frames = std::function<experiments::Metadata(const std::function<void()>& render)>;

/// Has frames of an experiment computed, renders them without a window, and saves a screenshot of
/// the last. Opens an OpenGL context meanwhile. Throws what `frames` and save_screenshot() throw.
PixelPath save_offscreen(const experiments::Entry& entry, experiments::Running running,
                         const Frames& frames, const Screenshot& shot,
                         const std::filesystem::path& file);

/// Returns the metadata of a PNG of the whole window. `place`: where the microscope is open;
/// nullopt: it is closed. `elsewhere`: it is open in a state that no command line opens.
experiments::Metadata describe_window(const Stage& stage, experiments::Size size,
                                      const std::optional<MicroscopePlace>& place,
                                      bool elsewhere = false);

/// The folder for screenshots: the desktop's folder of pictures, or the current folder.
std::filesystem::path screenshot_folder();

/// folder/warpscope-YYYYMMDD-HHMMSS.png for the local time, or with another extension; -2, -3, … if
/// that file exists.
std::filesystem::path screenshot_path(const std::filesystem::path& folder, const std::tm& time,
                                      std::string_view extension = "png");

}  // namespace warpscope::ui
