#pragma once

#include "ui/stage/stage.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// What the emulator counted for each kernel: instructions, barriers, memory accesses.
class CountersPanel {
  public:
    explicit CountersPanel(Stage& stage) : stage_(stage) {}

    void draw(Ui& ui);

  private:
    Stage& stage_;
};

}  // namespace warpscope::ui
