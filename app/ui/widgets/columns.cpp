#include "ui/widgets/columns.h"

#include <algorithm>

#include "ui/language/language.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {

RowColumns row_columns(Ui& ui, float widest_label) {
    const float width = ImGui::GetContentRegionAvail().x;
    const float gap = ui.px(12);
    const float label = std::min(std::max(widest_label + gap, ui.px(84)), width * 0.52F);
    return {label, std::max(ui.px(24), width - label)};
}

void row_label(Ui& ui, const RowColumns& at, const std::string& label, const std::string& help) {
    ImGui::AlignTextToFramePadding();
    const float x = ImGui::GetCursorPosX();
    paragraph(ui.fonts.body, colour::dim, label, at.label - ui.px(8));
    tooltip(ui, help);
    ImGui::SameLine(x + at.label, 0);
}

bool reset_mark(Ui& ui, const std::string& id, const std::string& value) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 size{ui.px(16), ImGui::GetFrameHeight()};
    // Half of the margin is outside of what ImGui lets be drawn.
    const ImVec2 corner = ImGui::GetWindowPos(), inside = ImGui::GetWindowSize();
    ImGui::PushClipRect(corner, {corner.x + inside.x, corner.y + inside.y}, false);
    ImGui::SetCursorScreenPos({at.x - size.x - ui.px(1), at.y});
    const bool clicked = hit_area(id + ".default", size);
    record(ui, id + ".default", value);
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    draw_icon(Icon::restart, {(low.x + high.x) / 2, (low.y + high.y) / 2}, ui.px(4.5F),
              ImGui::IsItemHovered() ? colour::text : colour::accent);
    ImGui::PopClipRect();
    tooltip(ui, tr("Back to the default: {}.", value));
    ImGui::SetCursorScreenPos(at);
    return clicked;
}

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
