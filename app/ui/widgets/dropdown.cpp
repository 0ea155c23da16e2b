#include <imgui.h>

#include "ui/widgets/widgets.h"

namespace warpscope::ui {

int dropdown(Ui& ui, const std::string& id, const std::vector<std::string>& ids,
             const std::vector<std::string>& labels, std::size_t chosen, float width) {
    int clicked = -1;
    ImGui::SetNextItemWidth(width);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(6), ui.px(6)});
    const bool open = ImGui::BeginCombo(("##" + id).c_str(), labels[chosen].c_str(),
                                        ImGuiComboFlags_HeightLargest);
    note_if_cut(labels[chosen], ImGui::GetItemRectSize().x - ImGui::GetFrameHeight() -
                                    ImGui::GetStyle().FramePadding.x);
    // While the list is open, the last item is not the box.
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
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
