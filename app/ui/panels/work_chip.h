#pragma once

#include <cstdint>
#include <string>

#include "ui/stage/stage.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// "Frame 3 · 41 % of the blocks · about 12 s left" for work that has taken `seconds` so far, where
/// `frame` is the one that is computed next. Empty: the work is too short to speak of it.
std::string work_words(Activity activity, std::uint64_t frame, double seconds,
                       const compute::LaunchProgress::Reading& launch);

/// Says what takes long, over the picture, with a button that cancels it.
class WorkChip {
  public:
    explicit WorkChip(Stage& stage) : stage_(stage) {}

    /// Draws the chip in the upper right corner of the current ImGui child window, if there is long
    /// work.
    void draw(Ui& ui);
    /// There is work that a person would want to cancel.
    bool shows() const;

  private:
    Stage& stage_;
};

}  // namespace warpscope::ui
