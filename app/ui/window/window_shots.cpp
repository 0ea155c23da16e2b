#include "ui/window/window_shots.h"

#include <fmt/format.h>
#include <glad/gl.h>

#include <chrono>
#include <ctime>
#include <stdexcept>
#include <utility>

#include "experiments/export/trace.h"
#include "gl/framebuffer.h"
#include "gl/png.h"
#include "gl/window_context.h"
#include "ui/commands/copies.h"
#include "ui/documents/text_file.h"
#include "ui/language/language.h"

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
    view_.options().records = !record_.empty();
}

void WindowShots::advance() {
    if (saving_.valid() && saving_.wait_for(std::chrono::seconds(0)) == std::future_status::ready)
        finish_saving();
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
    ScreenshotImage image = shot == Shot::picture ? image_of_picture() : image_of_window(size);
    saving_ = std::async(std::launch::async, [image = std::move(image), local = local_time()] {
        const auto path = screenshot_path(screenshot_folder(), local);
        gl::write_png(path, image.size.width, image.size.height, image.rgba, image.metadata);
        gl::WindowContext::wake();
        return path;
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
    const Microscope& microscope = view_.microscope();
    const auto place = microscope.frame() == stage_.frame() ? microscope.place() : std::nullopt;
    ScreenshotImage image{size, gl::read_framebuffer(size.width, size.height),
                          describe_window(stage_, size, place, microscope.is_open() && !place)};
    for (std::size_t i = 3; i < image.rgba.size(); i += 4) image.rgba[i] = 255;
    return image;
}

/// Begins, continues or ends a recording. Another size ends it, since its frames must be alike.
void WindowShots::record(experiments::Size size) {
    try {
        if (recording_ && experiments::Size{recording_->width(), recording_->height()} != size)
            view_.stop_recording();
        if (view_.records() && !recording_) {
            const auto metadata = image_of_window(size).metadata;
            auto file = std::exchange(record_, {});
            if (file.empty()) file = screenshot_path(screenshot_folder(), local_time());
            recording_ = std::make_unique<gl::LiveRecording>(std::move(file), metadata, size.width,
                                                             size.height);
        }
        if (!recording_) return;
        if (view_.records() && recording_->is_due())
            return recording_->add(image_of_window(size).rgba);
        if (view_.records()) return;
        const auto ended = std::exchange(recording_, nullptr);
        if (view_.take_discarded()) return stage_.say(tr("The recording was discarded."));
        const std::size_t frames = ended->finish();
        stage_.say(tr("Saved {}, {} frames", ended->path().string(), frames));
    } catch (const std::exception& error) {
        recording_.reset();
        view_.stop_recording();
        say_not_saved(tr("recording"), error);
    }
}

/// Waits for the file that is being written, if there is one, and says where it is.
void WindowShots::finish_saving() {
    if (!saving_.valid()) return;
    try {
        stage_.say(tr("Saved {}", saving_.get().string()));
    } catch (const std::exception& error) {
        say_not_saved(tr("screenshot"), error);
    }
}

void WindowShots::say_not_saved(const char* what, const std::exception& error) {
    stage_.say(tr("The {} was not saved: {}", what, error.what()), Tone::error);
}

}  // namespace warpscope::ui
