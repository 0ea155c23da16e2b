#pragma once

#include <functional>
#include <string>

#include "ui/documents/kept_edits.h"
#include "ui/documents/kernel_folder.h"
#include "ui/stage/stage.h"

namespace warpscope::ui {

/// The files of a stage's edits: those that are watched, and those that keep edits for the next
/// session.
class EditFiles {
  public:
    /// `wake` has look() called soon; any thread may call it.
    EditFiles(Stage& stage, KernelFolder watched, const std::filesystem::path& kept,
              std::function<void()> wake);

    bool watches() const { return watched_.watches(); }
    /// Has watched files that have changed read, and keeps what was typed. For every frame, and for
    /// a window that draws none.
    void look();
    /// Keeps what was typed at once, before the app ends.
    void keep_now() { keep(true); }

    /// There are edits of the last session.
    bool offers() const { return !kept_.offered().empty(); }
    /// "ripple.cu, gallery/life.cu"
    std::string offered() const;
    void take_offer();
    /// Renames their files to NAME.cu~, which are not offered again.
    void decline_offer();

  private:
    void keep(bool now);
    void say(std::string words);

    Stage& stage_;
    KernelFolder watched_;
    KeptEdits kept_;
    std::function<void()> wake_;
    bool complained_ = false;
};

/// The folder for kept edits, beside the settings file; empty where there is no such file.
std::filesystem::path kept_edits_folder(const std::filesystem::path& settings);

}  // namespace warpscope::ui
