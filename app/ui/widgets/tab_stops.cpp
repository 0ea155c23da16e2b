#include "ui/widgets/tab_stops.h"

#include <imgui_internal.h>

#include <set>
#include <utility>

namespace warpscope::ui {
namespace {

constexpr int none = -1;

/// The stops of the frame that is drawn are numbered in the order in which they are drawn.
struct {
    int count = 0, focused = none;
    FocusedStop focus;
    int wish = none;  ///< the stop that is to get the focus in this frame
    std::set<ImGuiID> words;
} stops;

/// A list or a page that lies over the panels takes the keys from them.
bool window_has_keys() {
    return !ImGui::IsWindowFocused(ImGuiFocusedFlags_AnyWindow) ||
           ImGui::IsWindowFocused(ImGuiFocusedFlags_RootAndChildWindows |
                                  ImGuiFocusedFlags_NoPopupHierarchy);
}

}  // namespace

bool keyboard_is_used() {
    return (ImGui::GetIO().ConfigFlags & ImGuiConfigFlags_NavEnableKeyboard) != 0;
}

void tab_stop(std::string_view id) {
    const bool disabled = (ImGui::GetItemFlags() & ImGuiItemFlags_Disabled) != 0;
    if (!keyboard_is_used() || ImGui::GetItemID() == 0 || disabled || !window_has_keys()) return;
    const int number = stops.count++;
    if (number == stops.wish) ImGui::SetKeyboardFocusHere(-1);
    if (number != stops.wish && (stops.wish != none || !ImGui::IsItemFocused())) return;
    stops.focused = number;
    stops.focus = {std::string(id), ImGui::GetItemRectMin(), ImGui::GetItemRectMax()};
}

bool word_stop(ImVec2 low, ImVec2 high, const std::string& word) {
    if (!keyboard_is_used()) return false;
    const std::string name = "word:" + word;  // an item may have the name of the word
    const ImGuiID id = ImHashStr(name.c_str(), 0, ImGui::GetCurrentWindow()->ID);
    if (!stops.words.insert(id).second) return false;
    const ImGuiLastItemData text = ImGui::GetCurrentContext()->LastItemData;
    ImGui::ItemAdd({low, high}, id);
    tab_stop(name);
    focus_ring(ImGui::GetFontSize() / 15);
    const bool focused = ImGui::IsItemFocused();
    ImGui::GetCurrentContext()->LastItemData = text;
    return focused;
}

FocusedStop end_stops(int direction) {
    FocusedStop focus = std::exchange(stops.focus, {});
    const int count = std::exchange(stops.count, 0), focused = std::exchange(stops.focused, none);
    stops.wish = none;
    stops.words.clear();
    if (direction == 0 || count == 0) return focus;
    // Takes back ImGui's own answer to Tab.
    ImGui::NavMoveRequestCancel();
    ImGui::GetCurrentContext()->NavTabbingResultFirst.Clear();
    const int from = focused == none && direction < 0 ? 0 : focused;
    stops.wish = (from + direction + count) % count;
    return {};
}

void focus_ring(float unit) {
    if (!ImGui::GetIO().NavVisible || !ImGui::IsItemFocused()) return;
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    const float gap = 1.5F * unit;
    ImGui::GetWindowDrawList()->AddRect({low.x - gap, low.y - gap}, {high.x + gap, high.y + gap},
                                        ImGui::GetColorU32(ImGuiCol_NavHighlight), 5 * unit, 0,
                                        2 * unit);
}

}  // namespace warpscope::ui
