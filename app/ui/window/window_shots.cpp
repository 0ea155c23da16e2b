#include "ui/window/window_shots.h"

#include <fmt/format.h>
#include <glad/gl.h>

#include <chrono>
#include <cmath>
#include <ctime>
#include <stdexcept>
#include <utility>

#include "experiments/export/page_and_trace.h"
#include "gl/context.h"
#include "gl/png.h"
#include "gl/texture.h"
#include "ui/commands/clipboard.h"
#include "ui/documents/source_files.h"
#include "ui/language/language.h"
#include "ui/widgets/futures.h"

namespace warpscope::ui {
namespace {

std::tm local_time() {
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    ::localtime_r(&now, &local);
    return local;
}

}  // namespace

WindowShots::WindowShots(Stage& stage, WindowView& view, std::filesystem::path record)
    : stage_(stage), view_(view), record_(std::move(record)) {
    if (!record_.empty()) view_.options().records = Recorded::window;
}

void WindowShots::advance() {
    if (is_ready(saving_)) finish_saving();
}

bool WindowShots::take(experiments::Size size) {
    record(size);
    const Shot shot = view_.take_shot();
    if (shot == Shot::none) return false;
    try {
        if (shot == Shot::page)
            save_page();
        else if (shot == Shot::trace)
            save_trace();
        else
            save(shot, size);
    } catch (const std::exception& error) {
        say_not_saved(shot == Shot::page    ? tr("page")
                      : shot == Shot::trace ? tr("trace")
                                            : tr("screenshot"),
                      error);
    }
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    return true;
}

void WindowShots::finish() {
    finish_saving();
    view_.stop_recording();
    record({});
}

/// Reads the pixels of this frame. Another thread makes a file of them.
void WindowShots::save(Shot shot, experiments::Size size) {
    finish_saving();  // one file at a time
    ScreenshotImage image = shot == Shot::window ? image_of_window(size) : image_of_picture();
    const bool copies = shot == Shot::copy;
    failing_ = copies ? tr("The picture was not copied") : tr("The screenshot was not saved");
    saving_ =
        std::async(std::launch::async,
                   [copies, image = std::move(image), local = local_time()]() -> std::string {
                       const auto [width, height] = image.size;
                       if (copies) {
                           copy_png(gl::encode_png(width, height, image.rgba, image.metadata));
                           gl::WindowContext::wake();
                           return std::string(tr("Copied the picture."));
                       }
                       const auto path = screenshot_path(screenshot_folder(), local);
                       gl::write_png(path, width, height, image.rgba, image.metadata);
                       gl::WindowContext::wake();
                       return tr("Saved {}", path.string());
                   });
}

ScreenshotImage WindowShots::image_of_picture() {
    return take_screenshot(stage_, {view_.picture_size(), true});
}

void WindowShots::save_text(const char* extension, const std::string& text) {
    const auto path = screenshot_path(screenshot_folder(), local_time(), extension);
    write_whole(path, text);
    stage_.say(tr("Saved {}", path.string()));
}

void WindowShots::save_page() {
    const ScreenshotImage image = image_of_picture();
    save_text("html", page_of(stage_, gl::encode_png(image.size.width, image.size.height,
                                                     image.rgba, image.metadata)));
}

void WindowShots::save_trace() {
    const auto timeline = view_.timeline();
    if (!timeline)
        throw std::runtime_error(
            tr("there is no timeline; open the microscope, or run the stamped tile on a GPU"));
    save_text("trace.json", experiments::to_trace(*timeline));
}

ScreenshotImage WindowShots::image_of_window(experiments::Size size) const {
    return {size, pixels_of({0, 0, size}), metadata_of_window(size)};
}

experiments::Metadata WindowShots::metadata_of_window(experiments::Size size) const {
    const Microscope& microscope = view_.microscope();
    const auto place = microscope.frame() == stage_.frame() ? microscope.place() : std::nullopt;
    return describe_window(stage_, size, place, microscope.is_open() && !place);
}

std::vector<std::uint8_t> WindowShots::pixels_of(const Area& area) {
    auto rgba = gl::read_framebuffer(area.size.width, area.size.height, area.left, area.below);
    for (std::size_t i = 3; i < rgba.size(); i += 4) rgba[i] = 255;
    return rgba;
}

WindowShots::Area WindowShots::recorded_area(experiments::Size window) const {
    if (view_.records() == Recorded::window) return {0, 0, window};
    const Box& canvas = view_.layout().canvas;
    const float raster = view_.ui().raster;
    const experiments::Size size = view_.picture_size();
    const auto top = int(std::lround(canvas.y * raster));
    return {int(std::lround(canvas.x * raster)), window.height - top - size.height, size};
}

/// Begins, continues or ends a recording. Another size ends it, since its frames must be alike.
void WindowShots::record(experiments::Size window) {
    try {
        const Area area = recorded_area(window);
        if (recording_ && experiments::Size{recording_->width(), recording_->height()} != area.size)
            view_.stop_recording();
        if (view_.records() == Recorded::none) return end_recording();
        if (!recording_) begin_recording(area, window);
        ViewOptions& options = view_.options();
        options.recorded_seconds = std::uint64_t(recording_->length().count());
        options.recorded_bytes = recording_->bytes();
        options.dropped_frames = recording_->dropped();
        if (options.record_seconds > 0 && options.recorded_seconds >= options.record_seconds) {
            view_.stop_recording();
            return end_recording();
        }
        if (recording_->is_due()) add_frame(area);
    } catch (const std::exception& error) {
        recording_.reset();
        view_.stop_recording();
        say_not_saved(tr("recording"), error);
    }
}

/// The thread that draws only reads the pixels.
void WindowShots::add_frame(const Area& area) {
    auto pixels = recording_->room();
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    glPixelStorei(GL_PACK_ALIGNMENT, 4);
    glReadPixels(area.left, area.below, area.size.width, area.size.height, GL_RGBA,
                 GL_UNSIGNED_BYTE, pixels.data());
    recording_->add(std::move(pixels));
}

void WindowShots::begin_recording(const Area& area, experiments::Size window) {
    auto metadata = view_.records() == Recorded::picture
                        ? experiments::describe(stage_.described(), area.size, true)
                        : metadata_of_window(window);
    auto file = std::exchange(record_, {});
    if (file.empty())
        file = screenshot_path(screenshot_folder(), local_time(),
                               view_.options().records_mp4 ? "mp4" : "png");
    recording_ = std::make_unique<gl::LiveRecording>(std::move(file), std::move(metadata),
                                                     area.size.width, area.size.height);
}

void WindowShots::end_recording() {
    const auto ended = std::exchange(recording_, nullptr);
    if (!ended) return;
    if (view_.take_discarded()) return stage_.say(tr("The recording was discarded."));
    const std::size_t frames = ended->finish(), dropped = ended->dropped();
    std::error_code error;
    const double bytes = double(std::filesystem::file_size(ended->path(), error));
    auto said = tr("Saved {}, {} frames, {:.1f} MB", ended->path().string(), frames,
                   error ? 0 : bytes / 1e6);
    if (dropped > 0)
        said += tr("; {} more were dropped, because compressing them took too long", dropped);
    stage_.say(said);
}

/// Waits for the file that is being written, if there is one, and says where it is.
void WindowShots::finish_saving() {
    if (!saving_.valid()) return;
    try {
        stage_.say(saving_.get());
    } catch (const std::exception& error) {
        stage_.say(fmt::format("{}: {}", failing_, error.what()), Tone::error);
    }
}

void WindowShots::say_not_saved(const char* what, const std::exception& error) {
    stage_.say(tr("The {} was not saved: {}", what, error.what()), Tone::error);
}

}  // namespace warpscope::ui
