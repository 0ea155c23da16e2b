#pragma once

#include <imgui.h>

#include "ui/widgets/theme.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// The look of a list that lies over the window, for as long as the object lives.
class OverlayStyle {
  public:
    explicit OverlayStyle(const Ui& ui) {
        ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(22), ui.px(18)});
        ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, ui.px(8));
        ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, ui.px(1));
        ImGui::PushStyleColor(ImGuiCol_WindowBg, colour::panel);
    }
    ~OverlayStyle() {
        ImGui::PopStyleColor();
        ImGui::PopStyleVar(3);
    }
    OverlayStyle(const OverlayStyle&) = delete;
    OverlayStyle& operator=(const OverlayStyle&) = delete;
};

}  // namespace warpscope::ui
