#pragma once

#include <string>

#include "ui/stage/kept_edits.h"
#include "ui/stage/kernel_folder.h"
#include "ui/stage/stage.h"

namespace warpscope::ui {

/// The files behind a stage's edited kernels: those that are watched, and those that keep what was
/// typed for the next start.
class EditFiles {
  public:
    EditFiles(Stage& stage, KernelFolder watched, const std::filesystem::path& kept);

    bool watches() const { return watched_.watches(); }
    /// Once a frame, and while the window rests: takes what has changed, keeps what was typed.
    void look();
    /// Before the end.
    void keep_now() { keep(true); }

    /// Edits of the last time wait to be taken.
    bool offers() const { return !kept_.offered().empty(); }
    /// "ripple.cu, gallery/life.cu"
    std::string offered() const;
    void take_offer();
    /// They lie by as NAME.cu~, and are not offered again.
    void decline_offer();

  private:
    void keep(bool now);

    Stage& stage_;
    KernelFolder watched_;
    KeptEdits kept_;
    bool complained_ = false;
};

/// Where edited kernels are kept, beside these settings; empty where there are none.
std::filesystem::path kept_edits_folder(const std::filesystem::path& settings);

}  // namespace warpscope::ui
