#include <imgui.h>

#include <algorithm>

#include "ui/widgets/widgets.h"

namespace warpscope::ui {

int dropdown(Ui& ui, const std::string& id, const std::vector<std::string>& ids,
             const std::vector<std::string>& labels, std::size_t chosen, float width) {
    int clicked = -1;
    // The label has as many lines as it needs. ImGui would cut it, and its arrow is as wide as
    // high.
    const ImVec2 padding = ImGui::GetStyle().FramePadding;
    const float arrow = ImGui::GetFrameHeight(), room = width - arrow - padding.x;
    // A narrow box is an arrow alone.
    const std::string words = room > ImGui::GetFontSize() ? wrapped(labels[chosen], room) : "";
    note_if_cut(words, room);
    const auto more = float(std::ranges::count(words, '\n')) * ImGui::GetTextLineHeight();
    const ImU32 ink = ImGui::GetColorU32(ImGuiCol_Text);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    ImGui::SetNextItemWidth(width);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(6), ui.px(6)});
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {padding.x, padding.y + more / 2});
    const bool open = ImGui::BeginCombo(
        ("##" + id).c_str(), "", ImGuiComboFlags_HeightLargest | ImGuiComboFlags_NoArrowButton);
    ImGui::PopStyleVar();
    // While the list is open, the last item is not the box.
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    list.AddText({low.x + padding.x, low.y + padding.y}, ink, words.c_str());
    const ImVec2 tip{high.x - arrow / 2, (low.y + high.y) / 2 + ui.px(4)};
    list.AddTriangleFilled({tip.x - ui.px(5), tip.y - ui.px(8)},
                           {tip.x + ui.px(5), tip.y - ui.px(8)}, tip, ink);
    if (open) {
        for (std::size_t i = 0; i < labels.size(); ++i) {
            if (ImGui::Selectable(labels[i].c_str(), i == chosen)) clicked = int(i);
            // Before 1.89, Dear ImGui chooses with the space bar alone.
            if (ImGui::IsItemFocused() && key_pressed(ImGuiKey_Enter)) {
                clicked = int(i);
                ImGui::CloseCurrentPopup();
            }
            if (i == chosen) ImGui::SetItemDefaultFocus();  // where the arrow keys begin
            record(ui, id + ":" + ids[i], i == chosen ? "on" : "off");
        }
        ImGui::EndCombo();
    }
    ImGui::PopStyleVar();
    if (!open) record_rect(ui, low, high, id, ids[chosen]);
    return clicked;
}

}  // namespace warpscope::ui
