#pragma once

#include "ui/microscope/microscope.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// The newest access to shared memory: the lanes of the warp above the 32 banks.
class BanksPanel {
  public:
    explicit BanksPanel(Microscope& microscope) : microscope_(microscope) {}

    void draw(Ui& ui);

  private:
    Microscope& microscope_;
};

}  // namespace warpscope::ui
