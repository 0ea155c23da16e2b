#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "ui/stage/stage.h"
#include "ui/widgets/ui.h"
#include "ui/window/gui.h"
#include "ui/window/window.h"

namespace warpscope::ui {

/// Makes the stage that the window opens with, by the options and the settings of the last run.
/// Throws if the options' device is not there or an assignment is invalid.
std::unique_ptr<Stage> make_stage(const WindowOptions& options, const LoadedSettings& loaded,
                                  const EngineThread::Hooks& hooks);

/// What a window shows while its stage is made, if that takes long: on the first start on a GPU the
/// driver compiles the kernels.
class StartView {
  public:
    StartView(GLFWwindow* window, Gui& gui) : window_(window), gui_(gui) {}

    /// Draws a frame that says what the start is busy with, unless the work is short. `scale` and
    /// `raster` are those of Ui.
    void draw(const Work& work, float scale, float raster);
    /// Must be called after another Ui was made.
    void end();

  private:
    GLFWwindow* const window_;
    Gui& gui_;
    std::optional<Ui> ui_;  ///< made for the first frame
};

/// Replaces this process by a new one with the same program and arguments. Returns only if that
/// fails.
void start_again();

/// Remembers, in a file beside the settings, that the window is computing its first frame. If the
/// window ends before that frame, for any reason, the next start finds the file.
class UnfinishedRun {
  public:
    /// `settings`: the file of the settings; empty: nothing is remembered.
    explicit UnfinishedRun(const std::filesystem::path& settings);

    /// True if the last run ended before its first frame was there.
    bool before() const { return before_; }
    /// Records that the first frame is there.
    void finish();

  private:
    std::filesystem::path file_;
    bool before_ = false;
    bool finished_ = false;
};

}  // namespace warpscope::ui
