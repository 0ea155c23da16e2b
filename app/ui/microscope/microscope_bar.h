#pragma once

#include "ui/microscope/microscope.h"
#include "ui/stage/stage.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// The buttons that step through the block, the position, and the choice of the next warp.
class MicroscopeBar {
  public:
    MicroscopeBar(Stage& stage, Microscope& microscope) : stage_(stage), microscope_(microscope) {}

    void draw(Ui& ui);

  private:
    Stage& stage_;
    Microscope& microscope_;
    float position_width_ = 0;  ///< 0 until a block has been shown
};

}  // namespace warpscope::ui
