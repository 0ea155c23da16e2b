#pragma once

#include <string>

#include "ui/microscope/microscope.h"
#include "ui/stage/stage.h"
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

/// For an element of the result that is under the mouse, as WrongResults::find() reads it: why it
/// is wrong, in lines for a tooltip; empty: not known yet. A right click opens the access that got
/// the wrong value in the microscope.
std::string ask_why(Ui& ui, Stage& stage, Microscope& microscope, const std::string& element);

/// Pauses the experiment and opens that access, once it is known.
void show_why(Stage& stage, Microscope& microscope, const std::string& element);

}  // namespace warpscope::ui
