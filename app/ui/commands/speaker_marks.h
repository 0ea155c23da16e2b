#pragma once

#include <string>

#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// What helps an audience to follow a speaker: a halo of the pointer, and the newest keys.
class SpeakerMarks {
  public:
    /// A key went down that is a command: "Shift+F12".
    void press(std::string key);
    /// Draws them over the window.
    void draw(Ui& ui) const;
    /// True while a key is shown, which has to vanish later.
    bool moves() const;

  private:
    std::string key_;
    double at_ = -10;  ///< ImGui's seconds
};

}  // namespace warpscope::ui
