#pragma once

#include "ui/stage/device_facts.h"
#include "ui/stage/stage.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// Every kernel as a point under the ceilings of the device: the roofline chart.
class RooflinePanel {
  public:
    RooflinePanel(Stage& stage, DeviceFacts& facts) : stage_(stage), facts_(facts) {}

    /// Draws the panel into the current ImGui child window.
    void draw(Ui& ui);

  private:
    Stage& stage_;
    DeviceFacts& facts_;
};

}  // namespace warpscope::ui
