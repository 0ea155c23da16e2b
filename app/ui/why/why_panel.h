#pragma once

#include "ui/microscope/microscope.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// Why an element is wrong: the instructions behind its value, in this run and in a right one.
class WhyPanel {
  public:
    explicit WhyPanel(Microscope& microscope) : microscope_(microscope) {}

    void draw(Ui& ui);

  private:
    void column(Ui& ui, const Reason::Side& side, bool right, float width);

    Microscope& microscope_;
    const Reason* shown_ = nullptr;
    bool scrolls_ = false;  ///< to the line at which the runs part
};

}  // namespace warpscope::ui
