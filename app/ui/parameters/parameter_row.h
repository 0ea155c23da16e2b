#pragma once

#include <string>

#include "experiments/framework/parameter.h"
#include "ui/stage/stage.h"
#include "ui/widgets/labelled_row.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// Returns the parameter's label with its unit: "Yaw (°)".
std::string label_of(const experiments::Parameter& parameter);

/// Draws a parameter's label and its widget. A change is assigned to the stage after the frame.
void parameter_row(Ui& ui, Stage& stage, const experiments::Parameter& parameter,
                   const RowColumns& at);

}  // namespace warpscope::ui
