#pragma once

#include <string>

#include "ui/microscope/microscope.h"
#include "ui/stage/stage.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// For an element of the result that is under the mouse, as WrongResults::find() reads it: why it
/// is wrong, in lines for a tooltip; empty: not known yet. A right click opens the access that got
/// the wrong value in the microscope.
std::string ask_why(Ui& ui, Stage& stage, Microscope& microscope, const std::string& element);

/// Pauses the experiment and opens that access, once it is known.
void show_why(Stage& stage, Microscope& microscope, const std::string& element);

}  // namespace warpscope::ui
