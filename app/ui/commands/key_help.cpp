#include "ui/commands/key_help.h"

#include <algorithm>

#include "ui/language/language.h"
#include "ui/widgets/key_table.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

/// Draws the rows of one scope, below a title.
void section(Ui& ui, const char* title, KeyScope scope) {
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
        text(ui.fonts.body, colour::text, tr(row.does));
    }
    ImGui::EndGroup();
}

}  // namespace

void KeyList::draw(Ui& ui) const {
    if (!shown_) return;
    const ImVec2 screen = ImGui::GetIO().DisplaySize;
    ImGui::SetNextWindowPos({screen.x / 2, screen.y / 2}, ImGuiCond_Always, {0.5F, 0.5F});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(22), ui.px(18)});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, ui.px(8));
    ImGui::PushStyleColor(ImGuiCol_WindowBg, colour::raised);
    ImGui::Begin("##keys", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_AlwaysAutoResize |
                     ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings);
    section(ui, tr("Keys"), KeyScope::general);
    ImGui::SameLine(0, ui.px(36));
    ImGui::BeginGroup();
    section(ui, tr("While the microscope is open"), KeyScope::microscope);
    ImGui::Dummy({0, ui.px(8)});
    section(ui, tr("In the editor"), KeyScope::editor);
    ImGui::EndGroup();
    ImGui::End();
    ImGui::PopStyleColor();
    ImGui::PopStyleVar(2);
}

}  // namespace warpscope::ui
