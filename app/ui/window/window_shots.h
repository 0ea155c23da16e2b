#pragma once

#include <future>
#include <memory>

#include "gl/recording.h"
#include "ui/window/screenshot.h"
#include "ui/window/window_view.h"

namespace warpscope::ui {

/// Screenshots of a window, and recordings of it or of its picture. Other threads make files of
/// them. What is saved or fails becomes the message.
class WindowShots {
  public:
    /// `record`: a file that records the window from its first frame on; empty: none does.
    WindowShots(Stage& stage, WindowView& view, std::filesystem::path record);

    /// Once a frame, before it is drawn: says which files are there.
    void advance();
    /// Takes what a person has asked for, of the frame in the framebuffer of this size. Returns
    /// true if further frames must be drawn soon.
    bool take(experiments::Size size);
    /// Waits for the files that are being written.
    void finish();

  private:
    void save(Shot shot, experiments::Size size);
    void save_text(const char* extension, const std::string& text);
    ScreenshotImage image_of_picture();
    void save_page();
    void save_trace();
    /// Pixels of the framebuffer, with that many on their left and below them.
    struct Area {
        int left = 0, below = 0;
        experiments::Size size;
    };
    Area recorded_area(experiments::Size window) const;
    static std::vector<std::uint8_t> pixels_of(const Area& area);
    void record(experiments::Size window);
    void add_frame(const Area& area);
    void begin_recording(const Area& area, experiments::Size window);
    void end_recording();
    experiments::Metadata metadata_of_window(experiments::Size size) const;
    ScreenshotImage image_of_window(experiments::Size size) const;
    void finish_saving();
    void say_not_saved(const char* what, const std::exception& error);

    Stage& stage_;
    WindowView& view_;
    std::filesystem::path record_;     ///< of the next recording; empty: a new name
    std::future<std::string> saving_;  ///< the screenshot that is being written or copied
    std::string failing_;              ///< what is said before the reason why that failed
    std::unique_ptr<gl::LiveRecording> recording_;  ///< null: nothing is recorded
};

}  // namespace warpscope::ui
