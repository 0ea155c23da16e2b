#pragma once

#include "ui/stage/stage.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// Every kernel as a point under the ceilings of the device: the roofline chart.
class RooflinePanel {
  public:
    explicit RooflinePanel(Stage& stage) : stage_(stage) {}

    void draw(Ui& ui);

  private:
    Stage& stage_;
};

}  // namespace warpscope::ui
