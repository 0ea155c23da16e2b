#pragma once

#include <string>

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

}  // namespace warpscope::ui
