#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

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

/// A column of a table.
struct TableColumn {
    const char* title;
    const char* help;
    float width;               ///< logical pixels; 0: the remaining width
    bool on_the_left = false;  ///< applies to the title and to the cells
};

/// Returns which columns are left out of a table that is `width` logical pixels wide. Columns whose
/// cells are all `empty` are left out. A narrow table leaves out more, in the order `least_first`,
/// until `least` pixels remain for the column that takes the remaining width. `padding` is that of
/// a column, left and right.
std::vector<bool> columns_left_out(std::span<const TableColumn> columns,
                                   const std::vector<bool>& empty,
                                   std::span<const std::size_t> least_first, float width,
                                   float least, float padding);

/// Sets up the columns of the current ImGui table and draws their titles.
void table_head(Ui& ui, std::span<const TableColumn> columns, const std::vector<bool>& left_out);

/// Text at the right edge of the current cell.
void right_cell(ImFont* font, ImU32 colour, const std::string& words);

}  // namespace warpscope::ui
