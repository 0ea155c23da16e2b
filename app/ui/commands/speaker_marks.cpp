#include "ui/commands/speaker_marks.h"

#include <utility>

#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

constexpr double shown_seconds = 2;

}  // namespace

void SpeakerMarks::press(std::string key) {
    key_ = std::move(key);
    at_ = ImGui::GetTime();
}

bool SpeakerMarks::moves() const {
    return ImGui::GetTime() - at_ < shown_seconds;
}

void SpeakerMarks::draw(Ui& ui) const {
    ImDrawList& list = *ImGui::GetForegroundDrawList();
    const ImVec2 mouse = ImGui::GetIO().MousePos, screen = ImGui::GetIO().DisplaySize;
    const bool down = ImGui::IsMouseDown(ImGuiMouseButton_Left);
    list.AddCircleFilled(mouse, ui.px(22), faded(colour::finding, down ? 0.45F : 0.25F));
    list.AddCircle(mouse, ui.px(22), faded(colour::finding, 0.8F), 0, ui.px(2));
    if (!moves()) return;
    ImGui::PushFont(ui.fonts.value);
    const ImVec2 size = ImGui::CalcTextSize(key_.c_str());
    const float gap = ui.px(14);
    const ImVec2 low{(screen.x - size.x) / 2 - gap, screen.y - size.y - ui.px(120)};
    const ImVec2 high{low.x + size.x + 2 * gap, low.y + size.y + gap};
    list.AddRectFilled(low, high, faded(colour::raised, 0.95F), ui.px(8));
    list.AddRect(low, high, colour::accent, ui.px(8), 0, ui.px(1.5F));
    list.AddText({low.x + gap, low.y + gap / 2}, colour::text, key_.c_str());
    // No window of ImGui is open here, and record_rect() would show one of its own.
    ui.widgets.add({"speaker.key", low.x, low.y, high.x - low.x, high.y - low.y, key_});
    ImGui::PopFont();
}

}  // namespace warpscope::ui
