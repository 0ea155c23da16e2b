#pragma once

#include "ui/stage/inspector.h"
#include "ui/stage/stage.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// What the emulator counted for each kernel: instructions, barriers, memory accesses.
class CountersPanel {
  public:
    CountersPanel(Stage& stage, Inspector& inspector) : stage_(stage), inspector_(inspector) {}

    /// Draws the panel into the current ImGui child window.
    void draw(Ui& ui);

  private:
    Stage& stage_;
    Inspector& inspector_;
};

}  // namespace warpscope::ui
