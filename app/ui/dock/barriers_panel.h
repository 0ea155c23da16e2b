#pragma once

#include "ui/stage/stage.h"
#include "ui/widgets/ui.h"
#include "ui/widgets/view_options.h"

namespace warpscope::ui {

/// What each barrier policy, and the device in use, does with the launch.
class BarriersPanel {
  public:
    BarriersPanel(Stage& stage, ViewOptions& options) : stage_(stage), options_(options) {}

    void draw(Ui& ui);

  private:
    Stage& stage_;
    ViewOptions& options_;
};

}  // namespace warpscope::ui
