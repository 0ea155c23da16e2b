#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// A column of a table.
struct TableColumn {
    const char* title;
    const char* help;
    float width;               ///< logical pixels; 0: the remaining width
    bool on_the_left = false;  ///< the title, and the cells
};

/// Which columns are left out of a table that is `width` logical pixels wide: those whose cells are
/// all `empty` and, in a narrow table, as many more in the order `least_first` as it takes to leave
/// `least` pixels to the column of the remaining width. `padding`: of a column, left and right.
std::vector<bool> columns_left_out(std::span<const TableColumn> columns,
                                   const std::vector<bool>& empty,
                                   std::span<const std::size_t> least_first, float width,
                                   float least, float padding);

/// Sets the columns of the current ImGui table up and draws their titles.
void table_head(Ui& ui, std::span<const TableColumn> columns, const std::vector<bool>& left_out);

/// Text at the right edge of the current cell.
void right_cell(ImFont* font, ImU32 colour, const std::string& words);

}  // namespace warpscope::ui
