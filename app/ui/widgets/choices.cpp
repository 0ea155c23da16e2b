#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "ui/focus/tab_stops.h"
#include "ui/widgets/glossary.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

float width_of(const std::string& label) {
    return ImGui::CalcTextSize(label.c_str()).x;
}

/// The widths of segments: equal ones, or where a label has no room in its part, shares of what the
/// labels leave.
std::vector<float> segment_widths(const std::vector<std::string>& labels, float width) {
    float widest = 0, sum = 0;
    for (const std::string& label : labels) {
        widest = std::max(widest, width_of(label));
        sum += width_of(label);
    }
    const auto count = float(labels.size());
    std::vector<float> widths(labels.size(), width / count);
    if (widest > width / count)
        for (std::size_t i = 0; i < labels.size(); ++i)
            widths[i] = std::max(1.F, width_of(labels[i]) + (width - sum) / count);
    return widths;
}

}  // namespace

float segments_width(const std::vector<std::string>& labels) {
    float widest = 0;
    for (const std::string& label : labels) widest = std::max(widest, width_of(label));
    return (widest + 2 * ImGui::GetStyle().FramePadding.x) * float(labels.size());
}

int segments(Ui& ui, const std::string& id, const std::vector<std::string>& ids,
             const std::vector<std::string>& labels, std::size_t chosen, float width) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float height = ImGui::GetFrameHeight(), rounding = ImGui::GetStyle().FrameRounding;
    const auto ink = [](ImU32 colour) { return ImGui::GetColorU32(colour); };  // faint: disabled
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(at, {at.x + width, at.y + height}, ink(colour::raised), rounding);
    int clicked = -1;
    const bool narrow = segments_width(labels) > width;
    ImGui::PushFont(narrow ? ui.fonts.small : ImGui::GetFont());
    const std::vector<float> widths = segment_widths(labels, width);
    ImVec2 low = at;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const ImVec2 high{low.x + widths[i], low.y + height};
        ImGui::SetCursorScreenPos(low);
        if (hit_area(id + ":" + ids[i], {widths[i], height})) clicked = int(i);
        record(ui, id + ":" + ids[i], i == chosen ? "on" : "off");
        hover_label(labels[i]);
        if (i == chosen)
            list.AddRectFilled(low, high, ink(colour::accent_deep), rounding);
        else if (ImGui::IsItemHovered())
            list.AddRectFilled(low, high, ink(colour::hovered), rounding);
        note_if_cut(labels[i], widths[i]);
        ImGui::PushClipRect(low, high, true);
        const float left = low.x + std::max(0.F, (widths[i] - width_of(labels[i])) / 2);
        list.AddText({std::round(left), low.y + (height - ImGui::GetTextLineHeight()) / 2},
                     ink(i == chosen ? colour::text : colour::dim), labels[i].c_str());
        ImGui::PopClipRect();
        low.x = high.x;
    }
    ImGui::PopFont();
    record_rect(ui, at, {at.x + width, at.y + height}, id, ids[chosen]);
    return clicked;
}

int dropdown(Ui& ui, const std::string& id, const std::vector<std::string>& ids,
             const std::vector<std::string>& labels, std::size_t chosen, float width) {
    int clicked = -1;
    // The label has as many lines as it needs. ImGui would cut it, and its arrow is as wide as
    // high.
    const ImVec2 padding = ImGui::GetStyle().FramePadding;
    const float arrow = ImGui::GetFrameHeight(), room = width - arrow - padding.x;
    // A narrow box is an arrow alone.
    std::string words = room > ImGui::GetFontSize() ? wrapped(labels[chosen], room) : "";
    // A word that is too long is smaller.
    const bool is_long = width_of(words) > room && !words.empty();
    ImFont* const font = is_long ? ui.fonts.small : ImGui::GetFont();
    ImGui::PushFont(font);
    if (is_long) words = wrapped(labels[chosen], room);
    if (!words.empty()) note_if_cut(words, room);
    if (width_of(words) > room) words = shortened(labels[chosen], room);
    ImGui::PopFont();
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
    if (!open) tab_stop(id);
    if (!open) focus_ring(ui.px(1));
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    list.AddText(font, text_size(font), {low.x + padding.x, low.y + padding.y}, ink, words.c_str());
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
