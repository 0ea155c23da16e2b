#pragma once

#include "ui/microscope/microscope.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// The newest access to shared memory: the lanes of the warp above the 32 banks.
class BanksPanel {
  public:
    explicit BanksPanel(Microscope& microscope) : microscope_(microscope) {}

    /// Draws the panel into the current ImGui child window.
    void draw(Ui& ui);

  private:
    Microscope& microscope_;
};

}  // namespace warpscope::ui
