#include "ui/lessons/coach_mark.h"

#include <algorithm>

#include "ui/widgets/widgets.h"

namespace warpscope::ui {

void draw_coach_mark(Ui& ui, const Widget& widget, const std::string& number) {
    ImDrawList& list = *ImGui::GetForegroundDrawList();
    const ImVec2 screen = ImGui::GetIO().DisplaySize;
    const float gap = ui.px(4), r = ui.px(11);
    const ImVec2 low{std::max(ui.px(1), float(widget.x) - gap),
                     std::max(ui.px(1), float(widget.y) - gap)};
    const ImVec2 high{std::min(screen.x - ui.px(1), float(widget.x + widget.w) + gap),
                      std::min(screen.y - ui.px(1), float(widget.y + widget.h) + gap)};
    list.AddRect(low, high, colour::accent, ui.px(7), 0, ui.px(2.5F));
    ui.widgets.add({"coach_mark", low.x, low.y, high.x - low.x, high.y - low.y, number});
    const ImVec2 centre{std::clamp(low.x, r, screen.x - r), std::clamp(low.y, r, screen.y - r)};
    list.AddCircleFilled(centre, r, colour::accent);
    ImGui::PushFont(ui.fonts.strong);
    const ImVec2 size = ImGui::CalcTextSize(number.c_str());
    list.AddText({centre.x - size.x / 2, centre.y - size.y / 2}, colour::background,
                 number.c_str());
    ImGui::PopFont();
}

}  // namespace warpscope::ui
