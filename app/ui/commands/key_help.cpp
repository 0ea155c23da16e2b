#include "ui/commands/key_help.h"

#include <algorithm>

#include "ui/commands/overlay_style.h"
#include "ui/language/language.h"
#include "ui/widgets/key_table.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

/// Draws the rows of one scope, below a title, in a column of this width.
void section(Ui& ui, const char* title, KeyScope scope, float width) {
    ImGui::BeginGroup();
    heading(ui, title);
    float widest = 0;
    ImGui::PushFont(ui.fonts.mono);
    for (const KeyRow& row : key_table())
        if (row.scope == scope)
            widest = std::max(widest, ImGui::CalcTextSize(row.keys().c_str()).x);
    ImGui::PopFont();
    for (const KeyRow& row : key_table()) {
        if (row.scope != scope || row.keys().empty()) continue;
        text(ui.fonts.mono, colour::accent, row.keys());
        ImGui::SameLine(widest + ui.px(18), 0);
        paragraph(ui.fonts.body, colour::text, tr(row.does), width - widest - ui.px(18));
    }
    ImGui::EndGroup();
}

}  // namespace

void KeyList::draw(Ui& ui) const {
    if (!shown_) return;
    const ImVec2 screen = ImGui::GetIO().DisplaySize;
    ImGui::SetNextWindowPos({screen.x / 2, screen.y / 2}, ImGuiCond_Always, {0.5F, 0.5F});
    const OverlayStyle style(ui);
    // A list that is higher than the window scrolls.
    const ImVec2 most{screen.x - ui.px(40), screen.y - ui.px(40)};
    ImGui::SetNextWindowSizeConstraints({0, 0}, most);
    ImGui::Begin("##keys", nullptr,
                 ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize |
                     ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoMove |
                     ImGuiWindowFlags_NoSavedSettings);
    const float room = most.x - ui.px(44) - ImGui::GetStyle().ScrollbarSize, gap = ui.px(36);
    const bool beside = room >= ui.px(900);
    const float width = beside ? (room - gap) / 2 : room;
    section(ui, tr("Keys"), KeyScope::general, width);
    if (beside) ImGui::SameLine(0, gap);
    ImGui::BeginGroup();
    section(ui, tr("While the microscope is open"), KeyScope::microscope, width);
    ImGui::Dummy({0, ui.px(8)});
    section(ui, tr("In the editor"), KeyScope::editor, width);
    ImGui::Dummy({0, ui.px(8)});
    section(ui, tr("In a presentation"), KeyScope::presentation, width);
    ImGui::EndGroup();
    ImGui::End();
}

}  // namespace warpscope::ui
