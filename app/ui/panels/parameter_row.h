#pragma once

#include <string>

#include "experiments/framework/parameter.h"
#include "ui/stage/stage.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// Widths of the columns of labels and widgets.
struct RowColumns {
    float label;
    float widget;
};

/// The columns of rows whose labels are at most this wide.
RowColumns row_columns(Ui& ui, float widest_label);

/// Draws the label and leaves the cursor at the widget's place.
void row_label(Ui& ui, const RowColumns& at, const std::string& label, const std::string& help);

/// Draws, in the margin on the left of the row that begins at the cursor, a mark that the value is
/// not the default. A click on it sets the default. True when clicked. `value`: the default, for
/// the tooltip.
bool reset_mark(Ui& ui, const std::string& id, const std::string& value);

/// Returns the parameter's label with its unit: "Yaw (°)".
std::string label_of(const experiments::Parameter& parameter);

/// Draws a parameter's label and its widget. A change is assigned to the stage after the frame.
void parameter_row(Ui& ui, Stage& stage, const experiments::Parameter& parameter,
                   const RowColumns& at);

}  // namespace warpscope::ui
