#include "ui/widgets/table_columns.h"

#include "ui/language/language.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {

std::vector<bool> columns_left_out(std::span<const TableColumn> columns,
                                   const std::vector<bool>& empty,
                                   std::span<const std::size_t> least_first, float width,
                                   float least, float padding) {
    std::vector<bool> left_out = empty;
    float room = width - least;
    for (std::size_t i = 0; i < columns.size(); ++i)
        if (!left_out[i]) room -= columns[i].width + padding;
    for (const std::size_t i : least_first) {
        if (room >= 0) break;
        if (left_out[i]) continue;
        left_out[i] = true;
        room += columns[i].width + padding;
    }
    return left_out;
}

void right_cell(ImFont* font, ImU32 colour, const std::string& words) {
    ImGui::PushFont(font);
    const float free = ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(words.c_str()).x;
    if (free > 0) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + free);
    ImGui::PopFont();
    text(font, colour, words);
}

void table_head(Ui& ui, std::span<const TableColumn> columns, const std::vector<bool>& left_out) {
    ImGui::TableSetupScrollFreeze(0, 1);
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const bool fixed = columns[i].width > 0;
        ImGui::TableSetupColumn(
            tr(columns[i].title),
            (fixed ? ImGuiTableColumnFlags_WidthFixed : ImGuiTableColumnFlags_WidthStretch) |
                (left_out[i] ? ImGuiTableColumnFlags_Disabled : ImGuiTableColumnFlags_None),
            fixed ? ui.px(columns[i].width) : 1);
    }
    ImGui::TableNextRow();
    for (const TableColumn& column : columns) {
        if (!ImGui::TableNextColumn()) continue;
        if (column.on_the_left)
            text(ui.fonts.small, colour::faint, tr(column.title));
        else
            right_cell(ui.fonts.small, colour::faint, tr(column.title));
        tooltip(ui, tr(column.help));
    }
}

}  // namespace warpscope::ui
