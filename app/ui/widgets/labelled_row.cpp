#include "ui/widgets/labelled_row.h"

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

}  // namespace warpscope::ui
