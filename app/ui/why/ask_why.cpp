#include "ui/why/ask_why.h"

#include <imgui.h>

#include "ui/language/language.h"

namespace warpscope::ui {

void show_why(Stage& stage, Microscope& microscope, const std::string& element) {
    stage.pause(true);
    microscope.show_reason(stage.launch(), element);
}

std::string ask_why(Ui& ui, Stage& stage, Microscope& microscope, const std::string& element) {
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Right))
        ui.later([&stage, &microscope, element] { show_why(stage, microscope, element); });
    // Of a picture that moves on, the answer would be out of date.
    if (!stage.paused()) return tr("Right click: pause, and show why it is wrong.");
    const auto reason = microscope.reasons().ask(stage.launch(), element);
    if (!reason) return {};
    return tr(reason->words.element) + ": " + tr(reason->words.brief) +
           tr("\nRight click: open this access in the microscope.");
}

}  // namespace warpscope::ui
