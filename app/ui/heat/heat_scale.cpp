#include "ui/heat/heat_scale.h"

#include "ui/heat/heat_grid.h"
#include "ui/widgets/format.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {

void heat_scale(Ui& ui, const std::string& id, float right, float top, std::uint64_t most) {
    ImGui::PushFont(ui.fonts.mono_small);
    const std::string high = quantity(double(most), "");
    const float line = ImGui::GetTextLineHeight(), gap = ui.px(6);
    const float y = top + (ImGui::GetFrameHeight() - line) / 2;
    const float end = right - ImGui::CalcTextSize(high.c_str()).x - gap;
    const float width = ui.px(120), begin = end - width;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    constexpr int steps = 24;
    for (int i = 0; i < steps; ++i)
        list.AddRectFilled({begin + width * float(i) / steps, y},
                           {begin + width * float(i + 1) / steps, y + line},
                           heat_colour((i + 0.5) / steps));
    list.AddText({begin - gap - ImGui::CalcTextSize("0").x, y}, colour::dim, "0");
    list.AddText({end + gap, y}, colour::dim, high.c_str());
    ImGui::PopFont();
    record_rect(ui, {begin, y}, {end, y + line}, id, std::to_string(most));
}

}  // namespace warpscope::ui
