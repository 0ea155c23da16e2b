#include "ui/lessons/tour.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ui/language/language.h"
#include "ui/lessons/coach_mark.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

struct TourStep {
    const char* widget;
    const char* title;
    const char* words;
};

constexpr std::array steps{
    TourStep{
        "picture", tr_later("The picture"),
        tr_later(
            "Thousands of threads have drawn it, in blocks. Each block passes its pixels through "
            "shared memory. A click with the right button opens a block in the microscope.")},
    TourStep{
        "ripple.sync", tr_later("The barrier"),
        tr_later("__syncthreads() makes the threads of a block wait for each other. Switch it off, "
                 "also with the key S, and threads read before others have written.")},
    TourStep{
        "race", tr_later("The verdict"),
        tr_later(
            "A detector checks every access. It finds a race even where the picture is right. A "
            "click lists the two source lines and threads of each finding.")},
    TourStep{
        "editor.open", tr_later("The source"),
        tr_later("The editor shows the kernel beside the picture. What you type runs as soon as it "
                 "compiles. Words such as barrier, warp or sector are explained where you point.")},
    TourStep{
        "lessons.button", tr_later("Lessons"),
        tr_later("Eleven lessons begin with a missing barrier. The detector says whether you have "
                 "passed. Ctrl+Shift+P lists every command of the window.")},
};

/// Where the words stand: below the widget, above it, or in the middle of a large one.
ImVec2 place_beside(Ui& ui, const Widget* widget, ImVec2 size) {
    const ImVec2 screen = ImGui::GetIO().DisplaySize;
    const float gap = ui.px(16), edge = ui.px(8);
    if (!widget) return {(screen.x - size.x) / 2, (screen.y - size.y) / 2};
    const float below = float(widget->y + widget->h) + gap, above = float(widget->y) - gap - size.y;
    float y = float(widget->y + widget->h / 2) - size.y / 2;
    if (below + size.y + edge < screen.y)
        y = below;
    else if (above > edge)
        y = above;
    const float x = float(widget->x + widget->w / 2) - size.x / 2;
    return {std::clamp(x, edge, std::max(edge, screen.x - size.x - edge)), y};
}

}  // namespace

void Tour::draw(Ui& ui, bool covered) {
    if (!step_) return;
    const std::size_t at = *step_;
    const TourStep& step = steps[at];
    const Widget* widget = ui.widgets.find(step.widget);
    if (widget && !widget->visible) widget = nullptr;
    const ImVec2 size{ui.px(360), ui.px(178)};
    const ImVec2 place = place_beside(ui, widget, size);
    if (widget && !covered) draw_coach_mark(ui, Widget(*widget), fmt::format("{}", at + 1));
    ImGui::PushFont(ui.fonts.body);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(16), ui.px(12)});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, ui.px(8));
    ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, ui.px(1));
    ImGui::PushStyleColor(ImGuiCol_WindowBg, colour::panel);
    ImGui::PushStyleColor(ImGuiCol_Border, colour::accent);
    ImGui::SetNextWindowPos(place);
    ImGui::SetNextWindowSize(size);
    ImGui::Begin(
        "##tour", nullptr,
        ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings);
    heading(ui, tr(step.title));
    paragraph(ui.fonts.body, colour::text, tr(step.words));
    record(ui, "tour", step.widget);
    ImGui::SetCursorPosY(size.y - ImGui::GetFrameHeight() - ui.px(12));
    ImGui::AlignTextToFramePadding();
    text(ui.fonts.small, colour::dim, tr("{} of {}", at + 1, steps.size()));
    const bool last = at + 1 == steps.size();
    const char* const next = last ? tr("Done") : tr("Next");
    const float width =
        button_width(next) + (last ? 0 : button_width(tr("End the tour")) + ui.px(8));
    ImGui::SameLine(size.x - width - ui.px(16));
    if (!last) {
        if (flat_button(ui, "tour.end", tr("End the tour"))) end();
        ImGui::SameLine(0, ui.px(8));
    }
    if (flat_button(ui, "tour.next", next, true)) last ? end() : void(step_ = at + 1);
    ImGui::End();
    ImGui::PopStyleColor(2);
    ImGui::PopStyleVar(3);
    ImGui::PopFont();
}

}  // namespace warpscope::ui
