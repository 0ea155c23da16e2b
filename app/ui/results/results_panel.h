#pragma once

#include "ui/microscope/microscope.h"
#include "ui/stage/stage.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// The experiment's report and, once it was asked for, the comparison of its variants.
class ResultsPanel {
  public:
    ResultsPanel(Stage& stage, Microscope& microscope) : stage_(stage), microscope_(microscope) {}

    void draw(Ui& ui);
    /// Draws the readings side by side, as many as have room.
    void draw_strip(Ui& ui);

  private:
    Stage& stage_;
    Microscope& microscope_;
    void draw_comparison(Ui& ui);
    void compare_button(Ui& ui);
    void explain_if_wrong(Ui& ui, const experiments::Reading& r);

    bool wanted_ = false;                ///< a press of the button asks for a comparison
    bool asked_ = false;                 ///< the stage was asked for the comparison
    bool scroll_to_comparison_ = false;  ///< scroll in the next frame
};

}  // namespace warpscope::ui
