#include "ui/window/screenshot.h"

#include <fmt/format.h>
#include <imgui.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "gl/context.h"
#include "gl/png.h"
#include "gl/texture.h"
#include "ui/window/gui.h"
#include "ui/window/layout.h"
#include "ui/window/window_view.h"

namespace warpscope::ui {
namespace {

/// The desktop's entry in ~/.config/user-dirs.dirs: XDG_PICTURES_DIR="$HOME/Pictures".
std::string configured_pictures(const std::string& home) {
    const char* config = std::getenv("XDG_CONFIG_HOME");
    const std::string folder = config && *config ? config : home + "/.config";
    std::ifstream in(folder + "/user-dirs.dirs");
    const std::string key = "XDG_PICTURES_DIR=\"";
    for (std::string line; std::getline(in, line);) {
        if (!line.starts_with(key) || !line.ends_with('"')) continue;
        std::string path = line.substr(key.size(), line.size() - key.size() - 1);
        if (path.starts_with("$HOME")) path = home + path.substr(5);
        return path;
    }
    return home + "/Pictures";
}

std::vector<std::uint8_t> draw(Stage& stage, const Screenshot& shot) {
    Gui gui;
    const auto [width, height] = shot.size;
    WindowView view(stage, ViewOptions(), screenshot_scale(shot.size), 1);
    const gl::Framebuffer framebuffer(width, height);
    framebuffer.bind();
    if (shot.microscope) {
        view.open_microscope(*shot.microscope);
        if (!view.microscope().ready())
            throw std::runtime_error("--microscope: " + view.microscope().complaint());
        const std::string complaint = view.microscope().complaint_about(*shot.microscope);
        if (!complaint.empty()) throw std::invalid_argument("--microscope " + complaint);
    }
    // The screenshot waits for the checks, so that it does not depend on their progress.
    if (!shot.view_only) stage.wait_for_checks();
    // In a window the ceilings of a GPU arrive with a later frame; a screenshot has only one.
    if (!shot.view_only && stage.device().kind == compute::DeviceKind::cuda)
        stage.measure_ceilings();
    // ImGui knows the sizes of some items only after it has drawn them once.
    for (int pass = 0; pass < 3; ++pass) {
        gui.begin_frame(width, height);
        if (shot.view_only)
            view.draw_picture_alone(ImGui::GetIO().DisplaySize);
        else
            view.draw(ImGui::GetIO().DisplaySize);
        gui.render(width, height);
    }
    return framebuffer.read_pixels();
}

}  // namespace

experiments::Metadata describe_window(const Stage& stage, experiments::Size size,
                                      const std::optional<MicroscopePlace>& place, bool elsewhere) {
    auto metadata = experiments::describe(stage.described(), size, false);
    for (auto& [keyword, words] : metadata) {
        if (place && keyword == "command") words += " --microscope " + place->text();
        if (language() != Language::english && keyword == "command")
            words += fmt::format(" --language {}", name_of(language()).code);
        if (elsewhere && keyword == "reproducible")
            words =
                "no: the microscope shows an earlier frame, or warps stepped in an order that no "
                "command reproduces";
    }
    return metadata;
}

ScreenshotImage take_screenshot(Stage& stage, const Screenshot& shot) {
    const gl::Texture* raw = shot.view_only ? stage.pixels() : nullptr;
    const experiments::Size size = raw ? experiments::Size{raw->width(), raw->height()} : shot.size;
    auto metadata = shot.view_only ? experiments::describe(stage.described(), shot.size, true)
                                   : describe_window(stage, shot.size, shot.microscope);
    std::vector<std::uint8_t> rgba = raw ? raw->read_pixels() : draw(stage, shot);
    if (!raw)
        for (std::size_t i = 3; i < rgba.size(); i += 4) rgba[i] = 255;
    return {size, std::move(rgba), std::move(metadata)};
}

void save_screenshot(Stage& stage, const Screenshot& shot, const std::filesystem::path& file,
                     const experiments::Metadata& added) {
    ScreenshotImage image = take_screenshot(stage, shot);
    image.metadata.insert(image.metadata.end(), added.begin(), added.end());
    gl::write_png(file, image.size.width, image.size.height, image.rgba, image.metadata);
}

PixelPath save_offscreen(const experiments::Entry& entry, experiments::Running running,
                         const Frames& frames, const Screenshot& shot,
                         const std::filesystem::path& file) {
    const int gpu = running.device->info().ordinal;
    const gl::OffscreenContext context(gpu >= 0 ? std::optional(gpu) : std::nullopt);
    const bool microscope = shot.microscope.has_value();
    const experiments::Size view = shot.view_only ? shot.size : picture_area(shot.size, microscope);
    auto live = std::make_unique<LiveExperiment>(experiments::unowned(entry), std::move(running));
    const experiments::Metadata added = frames([&] { live->render(view); });
    Stage stage(std::move(live));
    save_screenshot(stage, shot, file, added);
    if (const ShownPicture& picture = stage.shown().picture; picture.texture)
        return {std::string(gl::to_string(picture.path)), picture.reason};
    return {"none", "the picture is drawn from values, not from a kernel's pixels"};
}

std::filesystem::path screenshot_folder() {
    std::error_code error;
    if (const char* pictures = std::getenv("XDG_PICTURES_DIR"))
        if (std::filesystem::is_directory(pictures, error)) return pictures;
    if (const char* home = std::getenv("HOME")) {
        const std::string pictures = configured_pictures(home);
        if (std::filesystem::is_directory(pictures, error)) return pictures;
    }
    return std::filesystem::current_path();
}

std::filesystem::path screenshot_path(const std::filesystem::path& folder, const std::tm& time,
                                      std::string_view extension) {
    char stamp[32];
    std::strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &time);
    std::filesystem::path path = folder / fmt::format("warpscope-{}.{}", stamp, extension);
    for (int i = 2; std::filesystem::exists(path); ++i)
        path = folder / fmt::format("warpscope-{}-{}.{}", stamp, i, extension);
    return path;
}

}  // namespace warpscope::ui
